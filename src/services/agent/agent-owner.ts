import type { TransferBelongings } from '../../core/user-belongings.ts';
import { idOfPrincipal } from '../../core/viewer.ts';
import { stopRuns } from './stop-runs.ts';

/**
 * Transfers the agents of a deleted user to another user, who must accept them, and cancels their runs. If a team takes
 * over, the agents are deleted with the user, because a team has no agents.
 */
export const transferAgents: TransferBelongings = (tx, tenantId, from, to) => {
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
};
