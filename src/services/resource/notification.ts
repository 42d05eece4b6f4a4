import type { UpdateNotificationInput } from '../../../entities/notification-input.ts';
import { Notification } from '../../../entities/notification.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import { CHANNELS } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import type { ListFilter } from '../../core/read/model.ts';
import { checkVersion } from './load-resource.ts';
import { HORIZON, inWindow, type NewRow } from './new-row-poller.ts';
import { followNewRows } from './new-rows.ts';

export interface NewNotification {
  /** Dotted name that begins with the kind, e.g. `dataset.filter.broken`. */
  type: string;
  /** One sentence. */
  message: string;
  /** A path of the service, or an https URL. */
  link?: string | null;
  resource?: { kind: string; id: string };
  /** Id of the user or team that a job or an app sends it for. */
  senderId?: string;
}

/** Limits the viewer to their own notifications. This applies to superusers, too. */
export const ownNotifications: AccessFilter = ({ userId }) => ({ sql: 'r.user_id = ?', params: [userId] });

/** Filters by whether the viewer has read a notification. */
export const readFilter: ListFilter = (value) => ({
  sql: value ? 'read_at is not null' : 'read_at is null',
  params: [],
});

/**
 * Notifies users in the transaction of the change that causes it. `user:<id>` stands for the user, `team:<id>` for the
 * members who can write the resources of the team. Each user gets one notification, disabled users included. Deleted
 * principals are ignored. Returns the number of notified users. See docs/contract/people.md#notifications.
 */
export async function notify(
  tx: Transaction,
  tenantId: string,
  principals: readonly string[],
  { type, message, link = null, resource, senderId }: NewNotification,
): Promise<number> {
  const idsOf = (prefix: string) =>
    principals.filter((principal) => principal.startsWith(prefix)).map((principal) => principal.slice(prefix.length));
  // The lock prevents the deletion of these users until the transaction ends.
  const users = await tx.query<{ id: string }>({
    text: `
      select id from dws.app_user
      where tenant_id = $1
        and (
          id = any($2)
          or id in (
            select user_id from dws.team_member
            where tenant_id = $1 and team_id = any($3) and role in ('memberPlus', 'admin')
          )
        )
      order by id
      for key share`,
    values: [tenantId, idsOf('user:'), idsOf('team:')],
  });
  for (const { id } of users)
    tx.insert(
      newRow(Notification, {
        tenantId,
        userId: id,
        type,
        message,
        link,
        senderId: senderId ?? null,
        resourceKind: resource?.kind ?? null,
        resourceId: resource?.id ?? null,
      }),
    );
  return users.length;
}

/**
 * Marks a notification of the viewer as read or unread. Marking it again leaves `readAt` unchanged. Returns its id.
 * Throws NOT_FOUND for a notification of another user.
 */
export function update(ctx: Context, id: string, { read }: UpdateNotificationInput): Promise<string> {
  const { userId } = ctx.viewer;
  if (read === null) throw invalid('read', 'must not be null');
  return ctx.transaction(async (tx) => {
    const notification = isUuid(id) ? await tx.findOne(Notification, { id, userId }, { lock: 'update' }) : null;
    if (!notification) throw notFound({ what: 'notification', id });
    recordAuditTarget(ctx.request, 'notification', id, notification.id);
    checkVersion(ctx, 'notification', notification.version);
    if (read !== undefined && read !== Boolean(notification.readAt)) notification.readAt = read ? new Date() : null;
    return notification.id;
  });
}

/**
 * Subscribes to the notifications of the viewer that are created from now on, by any process. Yields each once, in order
 * of creation.
 */
export function subscribe(ctx: Context): AsyncIterable<NewRow> {
  const { tenantId, userId } = ctx.viewer;
  return followNewRows(ctx, {
    channel: CHANNELS.notification,
    payload: userId,
    async find({ since, horizon }) {
      const [row] = await ctx.query<{ ids: string[]; horizon: string }>({
        text: `
          select
            array(
              select id::text from dws.notification
              where tenant_id = $1 and user_id = $2 and ${inWindow('$3', '$4')}
              order by created_at, id
            ) as ids,
            ${HORIZON} as horizon`,
        values: [tenantId, userId, since, horizon],
      });
      return row!;
    },
  });
}
