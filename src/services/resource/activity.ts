import type { OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import type { ActivityEvent } from '../../core/activity.ts';
import type { Statement } from '../../core/database.ts';
import { newId } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';

/** Who did something. */
export type ActivityActor = Pick<Viewer, 'tenantId' | 'userId' | 'username'>;

/** The statement that writes activities. They are one value of JSON, `$1`, so that another statement can carry them along. */
export const activityStatement = (
  { tenantId, userId }: { tenantId: string; userId: string | null },
  happenings: readonly ActivityEvent[],
  place = 1,
): Statement => ({
  text: `insert into dws.activity (id, tenant_id, kind, resource_id, name, owner_id, user_id, type, message, data, created_at)
    select a.id, a.tenant_id, a.kind, a.resource_id, a.name, a.owner_id, a.user_id, a.type, a.message, coalesce(a.data, '{}'), clock_timestamp()
    from jsonb_to_recordset($${place}::jsonb) as a(id uuid, tenant_id uuid, kind text, resource_id uuid, name text, owner_id text, user_id uuid, type text, message text, data jsonb)`,
  values: [
    JSON.stringify(
      happenings.map(({ kind, resource, event, message, data }) => ({
        id: newId(),
        tenant_id: tenantId,
        kind,
        resource_id: resource.id,
        name: resource.name,
        owner_id: resource.ownerId,
        user_id: userId,
        type: `${kind}.${event}`,
        message,
        data,
      })),
    ),
  ],
});

/** Says that somebody did the same to many resources of a kind, for what is done past the unit of work. `sentence` makes the message from a resource’s name. */
export async function recordActivities(
  viewer: ActivityActor,
  tx: Transaction,
  { kind }: Pick<OwnedKind<OwnedRow>, 'kind'>,
  event: ActivityEvent['event'],
  resources: readonly ActivityEvent['resource'][],
  sentence: (name: string) => string,
  data?: Record<string, unknown>,
): Promise<void> {
  if (resources.length > 0)
    await tx.query(
      activityStatement(
        viewer,
        resources.map((resource) => ({ kind, resource, event, message: sentence(resource.name), data })),
      ),
    );
}

/** What became of a dataset's refresh, told in the transaction that records it. `data` holds no texts of the source: readers who see a part of the rows read it too. */
export async function recordRefreshActivity(
  tx: Transaction,
  { tenantId, userId, resourceId }: { tenantId: string; userId: string; resourceId: string },
  event: 'refreshed' | 'refresh.failed',
  data: Record<string, number | string>,
): Promise<void> {
  const [found] = await tx.query<{ name: string; ownerId: string; userId: string | null; username: string | null }>({
    text: `select d.name, d.owner_id as "ownerId", u.id as "userId", u.username from dws.dataset d left join dws.app_user u on u.tenant_id = d.tenant_id and u.id = $3 where d.tenant_id = $1 and d.id = $2`,
    values: [tenantId, resourceId, userId],
  });
  if (!found) return;
  const { name, ownerId, username } = found;
  const who = username ?? 'somebody who is gone';
  const message = event === 'refreshed' ? `${who} refreshed ${name}` : `A refresh of ${name} by ${who} failed`;
  await tx.query(
    activityStatement({ tenantId, userId: found.userId }, [
      { kind: 'dataset', resource: { id: resourceId, name, ownerId }, event, message, data },
    ]),
  );
}

/** Words of principals, tags and folders by their keys, `user:<id>`, `team:<id>`, `tag:<id>`, `folder:<id>`. */
export async function loadNames(
  tx: Pick<Transaction, 'query'>,
  tenantId: string,
  keys: readonly string[],
): Promise<(key: string) => string> {
  if (keys.length === 0) return (key) => key;
  const idsOf = (type: string) =>
    keys.filter((key) => key.startsWith(`${type}:`)).map((key) => key.slice(type.length + 1));
  const found = await tx.query<{ key: string; name: string }>({
    text: `select 'user:' || id as key, username as name from dws.app_user where tenant_id = $1 and id = any($2)
      union all select 'team:' || id, name from dws.team where tenant_id = $1 and id = any($3)
      union all select 'tag:' || id, name from dws.tag where tenant_id = $1 and id = any($4)
      union all select 'folder:' || id, name from dws.folder where tenant_id = $1 and id = any($5)`,
    values: [tenantId, idsOf('user'), idsOf('team'), idsOf('tag'), idsOf('folder')],
  });
  const names = new Map(found.map(({ key, name }) => [key, name]));
  return (key) => names.get(key) ?? 'somebody or something that is gone';
}
