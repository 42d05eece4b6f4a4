import type { Transaction } from '../../core/platform.ts';
import { idOfPrincipal } from '../../core/viewer.ts';
import { stopRuns } from './stop-runs.ts';

/**
 * Gives the agents of a user who is deleted to another user, who has to accept them, and cancels their runs. If a team
 * takes over, the agents are deleted with the user, because a team has no agents.
 */
export function transferAgents(tx: Transaction, tenantId: string, from: string, to: string): void {
  if (!from.startsWith('user:')) return;
  const ownerId = idOfPrincipal(from);
  stopRuns(tx, tenantId, { ownerId });
  if (!to.startsWith('user:')) return;
  tx.execute({
    text: `
      update dws.agent set owner_id = $3, accepted = false, version = version + 1, updated_at = now()
      where tenant_id = $1 and id in (
        select id from dws.agent where tenant_id = $1 and owner_id = $2 order by id for update
      )`,
    values: [tenantId, ownerId, idOfPrincipal(to)],
  });
}
