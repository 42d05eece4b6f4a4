import type { Transaction } from '../../core/platform.ts';
import { storeActivities } from '../resource/activity.ts';

/** Stores the activity for a sync of a library, by the user or team who requested it. */
export async function recordSyncActivity(
  tx: Transaction,
  { tenantId, userId, resourceId }: { tenantId: string; userId: string; resourceId: string },
  data: Record<string, number>,
): Promise<void> {
  const [found] = await tx.query<{ name: string; ownerId: string; username: string | null }>({
    text: `
      select l.name, l.owner_id as "ownerId", coalesce(u.username, t.name) as username
      from dws.library l
      left join dws.app_user u on u.tenant_id = l.tenant_id and u.id = $3
      left join dws.team t on t.tenant_id = l.tenant_id and t.id = $3
      where l.tenant_id = $1 and l.id = $2`,
    values: [tenantId, resourceId, userId],
  });
  if (!found) return;
  const { name, ownerId, username } = found;
  storeActivities(tx, { tenantId, userId }, [
    {
      kind: 'library',
      resource: { id: resourceId, name, ownerId },
      event: 'synced',
      message: `${username ?? 'a deleted user'} synced ${name}`,
      data,
    },
  ]);
}
