import type { OperationEnd } from '../../core/operation-ends.ts';
import type { OperationStatus } from '../../core/operations.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import {
  endLostRuns,
  formerStatusSql,
  notifyFirstFailure,
  pruneRuns,
  RUN_CANCELLED,
  RUN_LOST,
  type RunOutcome,
} from '../operation/run-end.ts';
import { releaseCredits } from '../usage/credit-reservation.ts';
import { cutResult } from './tools/tool-result.ts';

/** A run that ends. */
export interface EndedAgentRun {
  tenantId: string;
  agentRunId: string;
}

/** How a run ended. */
export interface AgentRunEnd extends RunOutcome {
  output?: string | null;
}

interface EndedRow extends Record<string, unknown> {
  agentId: string;
  name: string;
  ownerId: string;
  formerStatus: OperationStatus | null;
}

/**
 * Records the end of a run and releases what is reserved for it, unless its first call was sent. The owner is notified of
 * the first of consecutive failures.
 * Does nothing if the run has ended or was deleted.
 */
export async function endAgentRun(
  tx: Transaction,
  { tenantId, agentRunId }: EndedAgentRun,
  { status, error, output = null }: AgentRunEnd,
): Promise<void> {
  const [ended] = await tx.query<EndedRow>({
    text: `
      with ended as (
        update dws.agent_run
        set status = $3, error = $4, output = $5, finished_at = clock_timestamp(),
          duration = round(greatest(extract(epoch from clock_timestamp() - started_at) * 1000, 0)),
          version = version + 1, updated_at = now()
        where tenant_id = $1 and id = $2 and status in ('queued', 'running')
        returning agent_id
      )
      select a.id as "agentId", a.name, a.owner_id as "ownerId",
        ${formerStatusSql('agent_run', 'a.id', '$2')} as "formerStatus"
      from ended e
      join dws.agent a on a.tenant_id = $1 and a.id = e.agent_id`,
    values: [tenantId, agentRunId, status, error, output === null ? null : cutResult(output)],
  });
  releaseCredits(tx, { tenantId }, agentRunId);
  if (!ended) return;
  const { agentId, name, ownerId, formerStatus } = ended;
  pruneRuns(tx, 'agent_run', tenantId, agentId);
  if (status !== 'failed') return;
  await notifyFirstFailure(tx, 'agent', { tenantId, id: agentId, name, owner: `user:${ownerId}`, formerStatus });
}

/** Ends a run whose operation was cancelled. */
export const agentRunEnd: OperationEnd<'agent.run'> = {
  cancelled: (tx, { tenantId, input: { agentRunId } }) => endAgentRun(tx, { tenantId, agentRunId }, RUN_CANCELLED),
};

/** Marks runs as failed whose operation has ended without them. */
export const recoverAgentRuns = (platform: Platform, signal?: AbortSignal): Promise<void> =>
  endLostRuns<EndedAgentRun>(
    platform,
    { table: 'agent_run', columns: 'r.id as "agentRunId"' },
    (tx, run) => endAgentRun(tx, run, RUN_LOST),
    signal,
  );
