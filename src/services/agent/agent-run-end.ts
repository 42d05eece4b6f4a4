import type { OperationStatus } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import { notify } from '../resource/notification.ts';
import { releaseCredits } from '../usage/credit-reservation.ts';
import { cutResult } from './tools/tool-result.ts';

/** Number of runs that are kept of each agent. */
const MAX_RUNS = 1000;

/** A run that ends. */
export interface EndedAgentRun {
  tenantId: string;
  agentRunId: string;
}

/** How a run ended. */
export interface AgentRunEnd {
  status: Extract<OperationStatus, 'succeeded' | 'failed' | 'cancelled'>;
  /** Why it did not succeed, in one sentence; null for a success. */
  error: string | null;
  output?: string | null;
}

/** The end of a run that was cancelled. */
export const AGENT_RUN_CANCELLED = { status: 'cancelled', error: 'The run was cancelled' } as const;

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
          duration = greatest(extract(epoch from clock_timestamp() - started_at) * 1000, 0),
          version = version + 1, updated_at = now()
        where tenant_id = $1 and id = $2 and status in ('queued', 'running')
        returning agent_id
      )
      select a.id as "agentId", a.name, a.owner_id as "ownerId", (
          select status from dws.agent_run
          where tenant_id = $1 and agent_id = a.id and id <> $2 and status in ('succeeded', 'failed')
          order by created_at desc, id desc
          limit 1
        ) as "formerStatus"
      from ended e
      join dws.agent a on a.tenant_id = $1 and a.id = e.agent_id`,
    values: [tenantId, agentRunId, status, error, output === null ? null : cutResult(output)],
  });
  releaseCredits(tx, { tenantId }, agentRunId);
  if (!ended) return;
  pruneRuns(tx, tenantId, ended.agentId);
  if (status === 'failed' && ended.formerStatus !== 'failed') await notifyFailure(tx, tenantId, ended);
}

/** Deletes the oldest runs of an agent with too many. */
const pruneRuns = (tx: Pick<Transaction, 'execute'>, tenantId: string, agentId: string): void =>
  tx.execute({
    text: `
      delete from dws.agent_run
      where tenant_id = $1 and id in (
        select id from dws.agent_run
        where tenant_id = $1 and agent_id = $2
        order by created_at desc, id desc
        offset ${MAX_RUNS}
      )`,
    values: [tenantId, agentId],
  });

const notifyFailure = (tx: Transaction, tenantId: string, { agentId, name, ownerId }: EndedRow): Promise<number> =>
  notify(tx, tenantId, [`user:${ownerId}`], {
    type: 'agent.run.failed',
    message: `A run of the agent ${name} failed`,
    resource: { kind: 'agent', id: agentId },
  });
