import { CHANNELS } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';

/**
 * Cancels the operations of runs whose agent, assistant or owner is deleted. Operations that wait end when a worker takes
 * them, as it finds no run, or another owner.
 */
export function stopRuns(
  tx: Transaction,
  tenantId: string,
  of: { agentId: string } | { assistantId: string } | { ownerId: string },
): void {
  const [[key, id]] = Object.entries(of) as [[keyof typeof COLUMNS, string]];
  tx.execute({
    text: `
      with stopped as (
        update dws.operation set cancelled_at = coalesce(cancelled_at, now())
        where tenant_id = $1 and status = 'running' and finished_at is null and id in (
          select r.operation_id from dws.agent_run r join dws.agent a on a.id = r.agent_id
          where a.tenant_id = $1 and a.${COLUMNS[key]} = $2 and r.finished_at is null
        )
        returning work_id
      )
      select pg_notify('${CHANNELS.cancel}', work_id::text) from stopped`,
    values: [tenantId, id],
  });
}

const COLUMNS = { agentId: 'id', assistantId: 'assistant_id', ownerId: 'owner_id' } as const;
