import type { OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import type { ActivityEvent } from '../../core/activity.ts';
import { isInFeed } from '../../core/feed.ts';
import { newId } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';

/** The user who caused an activity. */
export type ActivityActor = Pick<Viewer, 'tenantId' | 'userId' | 'username'>;

/**
 * Stores activities with the next statement of the transaction. A `userId` that does not belong to a user, such as a
 * team's, is stored as null.
 */
export function storeActivities(
  tx: Pick<Transaction, 'execute'>,
  { tenantId, userId }: { tenantId: string; userId: string | null },
  events: readonly ActivityEvent[],
): void {
  if (events.length === 0) return;
  tx.execute({
    text: `
    insert into dws.activity
      (tenant_id, user_id, created_at, id, kind, resource_id, name, owner_id, type, message, data, in_feed)
    select $1, (select id from dws.app_user where tenant_id = $1 and id = $2), clock_timestamp(), a.*
    from unnest(
      $3::uuid[], $4::text[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[], $10::jsonb[], $11::boolean[]
    ) a`,
    values: [
      tenantId,
      userId,
      events.map(() => newId()),
      events.map(({ kind }) => kind),
      events.map(({ resource }) => resource.id),
      events.map(({ resource }) => resource.name),
      events.map(({ resource }) => resource.ownerId),
      events.map(({ kind, event }) => `${kind}.${event}`),
      events.map(({ message }) => message),
      events.map(({ data }) => JSON.stringify(data ?? {})),
      events.map(isInFeed),
    ],
  });
}

/**
 * Stores the same event for many resources of a kind, for changes that bypass the unit of work. `sentence` returns the
 * message for the name of a resource.
 */
export function recordActivities(
  viewer: ActivityActor,
  tx: Transaction,
  { kind }: Pick<OwnedKind<OwnedRow>, 'kind'>,
  event: ActivityEvent['event'],
  resources: readonly ActivityEvent['resource'][],
  sentence: (name: string) => string,
  data?: Record<string, unknown>,
): void {
  const events = resources.map((resource) => ({ kind, resource, event, message: sentence(resource.name), data }));
  storeActivities(tx, viewer, events);
}

/**
 * Stores the activity for the outcome of a refresh. `data` must not contain texts of the source: users with access to a
 * part of the rows read it too.
 */
export async function recordRefreshActivity(
  tx: Transaction,
  { tenantId, userId, resourceId }: { tenantId: string; userId: string; resourceId: string },
  event: 'refreshed' | 'refresh.failed',
  data: Record<string, number | string>,
): Promise<void> {
  const [found] = await tx.query<{ name: string; ownerId: string; userId: string | null; username: string | null }>({
    text: `
      select d.name, d.owner_id as "ownerId", u.id as "userId", coalesce(u.username, t.name) as username
      from dws.dataset d
      left join dws.app_user u on u.tenant_id = d.tenant_id and u.id = $3
      left join dws.team t on t.tenant_id = d.tenant_id and t.id = $3
      where d.tenant_id = $1 and d.id = $2`,
    values: [tenantId, resourceId, userId],
  });
  if (!found) return;
  const { name, ownerId, username } = found;
  const who = username ?? 'a deleted user';
  const message = event === 'refreshed' ? `${who} refreshed ${name}` : `A refresh of ${name} by ${who} failed`;
  const resource = { id: resourceId, name, ownerId };
  storeActivities(tx, { tenantId, userId: found.userId }, [{ kind: 'dataset', resource, event, message, data }]);
}

/**
 * Loads the names of users, teams, tags and folders. Returns a function from a key, e.g. `user:<id>` or `tag:<id>`, to
 * the name.
 */
export async function loadNames(
  tx: Pick<Transaction, 'query'>,
  tenantId: string,
  keys: readonly string[],
): Promise<(key: string) => string> {
  if (keys.length === 0) return (key) => key;
  const idsOf = (type: string) =>
    keys.filter((key) => key.startsWith(`${type}:`)).map((key) => key.slice(type.length + 1));
  const found = await tx.query<{ key: string; name: string }>({
    text: `
      select 'user:' || id as key, username as name from dws.app_user where tenant_id = $1 and id = any($2)
      union all
      select 'team:' || id, name from dws.team where tenant_id = $1 and id = any($3)
      union all
      select 'tag:' || id, name from dws.tag where tenant_id = $1 and id = any($4)
      union all
      select 'folder:' || id, name from dws.folder where tenant_id = $1 and id = any($5)`,
    values: [tenantId, idsOf('user'), idsOf('team'), idsOf('tag'), idsOf('folder')],
  });
  const names = new Map(found.map(({ key, name }) => [key, name]));
  return (key) => names.get(key) ?? 'a deleted item';
}
