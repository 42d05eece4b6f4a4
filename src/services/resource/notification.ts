import { Repeater } from '@graphql-yoga/subscription';
import { Notification } from '../../../entities/notification.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { ApiError, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { CHANNELS } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import type { Filter } from '../../core/read/model.ts';
import { checkVersion } from './load-resource.ts';

/** What users are told. */
export interface News {
  /** Words with dots, the kind first: `dataset.filter.broken`. */
  type: string;
  /** One sentence. */
  message: string;
  resource?: { kind: string; id: string };
}

export interface NotificationInput {
  read?: boolean | null;
}

/** Nobody sees another's notifications, superusers neither. */
export const ownNotifications: AccessFilter = ({ userId }) => ({ sql: 'r.user_id = ?', params: [userId] });

/** Those that the viewer has read, or has not. */
export const READ: Filter = (value) => ({ sql: value ? 'read_at is not null' : 'read_at is null', params: [] });

/**
 * Tells users something, in the transaction of what causes it: those named as `user:<id>`, and of a `team:<id>` its members who may write what it owns.
 * Everybody is told once, disabled users too; a principal that is gone tells nobody.
 */
export async function notify(
  tx: Transaction,
  tenantId: string,
  principals: readonly string[],
  { type, message, resource }: News,
): Promise<void> {
  const idsOf = (prefix: string) =>
    principals.filter((principal) => principal.startsWith(prefix)).map((principal) => principal.slice(prefix.length));
  // They stay until the transaction ends, so that nobody is told who is being deleted.
  const users = await tx.query<{ id: string }>({
    text: `select id from dws.app_user where tenant_id = $1
      and (id = any($2) or id in (select user_id from dws.team_member where tenant_id = $1 and team_id = any($3) and role in ('memberPlus', 'admin'))) order by id for key share`,
    values: [tenantId, idsOf('user:'), idsOf('team:')],
  });
  for (const { id } of users)
    tx.em.persist(
      tx.em.create(
        Notification,
        { tenantId, userId: id, type, message, resourceKind: resource?.kind ?? null, resourceId: resource?.id ?? null },
        { partial: true },
      ),
    );
}

/** Marks one of the viewer's notifications as read or unread; again is fine and leaves `readAt` as it was. Answers its id. */
export function update(ctx: Context, id: string, { read }: NotificationInput): Promise<string> {
  const { tenantId, userId } = ctx.viewer;
  if (read === null) throw invalid('read', 'must not be null');
  return ctx.transaction(async (tx) => {
    const [found] = isUuid(id)
      ? await tx.query<{ id: string }>({
          text: `select id from dws.notification where tenant_id = $1 and user_id = $2 and id = $3 for update`,
          values: [tenantId, userId, id],
        })
      : [];
    const notification = found && (await tx.em.findOne(Notification, { id: found.id }));
    if (!notification) throw notFound({ what: 'notification', id });
    recordAuditTarget(ctx.request, 'notification', id, notification.id);
    checkVersion(ctx, 'notification', notification.version);
    if (read !== undefined && read !== Boolean(notification.readAt)) notification.readAt = read ? new Date() : null;
    return notification.id;
  });
}

/** Milliseconds: longer than a transaction lasts that makes one, and than clocks differ. So far each look goes back, for what was made before the last look and committed after it. */
const LATE = 600_000;

/** Milliseconds until Postgres is asked again that could not be reached. */
const PAUSE = 1000;

/** Follows what the viewer is told from now on: the ids of new notifications in their order, whichever process makes them, each once. */
export async function news(ctx: Context): Promise<AsyncIterable<string>> {
  const {
    platform: { notifications },
    viewer: { userId },
  } = ctx;
  const look = await lookout(ctx);
  return new Repeater(async (push, stop) => {
    let rung = false,
      looking = false,
      ended = false;
    let again: NodeJS.Timeout | undefined;
    const ring = async () => {
      rung = true;
      if (looking) return;
      looking = true;
      try {
        while (rung) {
          rung = false;
          for (const id of await look()) await push(id);
        }
      } catch (error) {
        // Postgres that restarts ends no subscription.
        if (!(error instanceof ApiError && error.status === 503)) stop(error);
        else if (!ended) again = setTimeout(() => void ring(), PAUSE);
      } finally {
        looking = false;
      }
    };
    // What was made while nobody listened is found after a reconnect.
    const off = [
      notifications.on(CHANNELS.notification, (told) => {
        if (told === userId) void ring();
      }),
      notifications.onResync(() => void ring()),
    ];
    void ring();
    await stop;
    ended = true;
    clearTimeout(again);
    for (const end of off) end();
  });
}

/** Answers a function that finds the notifications which are new since it was last called, the eldest first. */
async function lookout({ query, viewer: { tenantId, userId } }: Context): Promise<() => Promise<string[]>> {
  let known = new Set<string>();
  let since = Date.now() - LATE;
  const look = async (): Promise<string[]> => {
    const next = Date.now() - LATE;
    const found = await query<{ id: string }>({
      name: 'new-notifications',
      text: `select id from dws.notification where tenant_id = $1 and user_id = $2 and created_at > $3 order by created_at, id`,
      values: [tenantId, userId, new Date(since)],
    });
    const fresh = found.map(({ id }) => id).filter((id) => !known.has(id));
    known = new Set(found.map(({ id }) => id));
    since = next;
    return fresh;
  };
  await look();
  return look;
}
