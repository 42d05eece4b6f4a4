import type { Transaction } from '../core/platform.ts';
import { actingTeam, findGrantee, type Grantee } from '../services/resource/access-level.ts';
import type { ActivityActor } from '../services/resource/activity.ts';

/** The user or team who started the operation. */
export interface OperationCaller extends Grantee, ActivityActor {
  /** `user:<id>` or `team:<id>`: the owner of the resources that the operation creates. */
  principal: string;
}

/** Loads the user, or the team whose job runs, with this id. Returns null for a deleted one. */
export async function findCaller(tx: Transaction, tenantId: string, id: string): Promise<OperationCaller | null> {
  const [found] = await tx.query<{ principal: string; username: string }>({
    text: `
      select 'user:' || id as principal, username from dws.app_user where tenant_id = $1 and id = $2
      union all
      select 'team:' || id, name from dws.team where tenant_id = $1 and id = $2`,
    values: [tenantId, id],
  });
  if (!found) return null;
  const isTeam = found.principal.startsWith('team:');
  const grantee = isTeam ? actingTeam(tenantId, id) : await findGrantee(tx, tenantId, found.principal);
  return grantee && { ...grantee, ...found };
}
