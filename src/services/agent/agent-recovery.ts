import type { Platform } from '../../core/platform.ts';
import { endAgentRun, type EndedAgentRun } from './agent-run-end.ts';

/** Why a run failed whose operation is gone. */
const RUN_LOST = 'The worker process ended before the run was done';

/** Records runs as failed whose operation has ended without them, e.g. in a restored backup. */
export async function recoverAgentRuns({ system, database, log }: Platform): Promise<void> {
  const lost = await system.query<EndedAgentRun & Record<string, unknown>>({
    text: `
      select tenant_id as "tenantId", id as "agentRunId"
      from dws.agent_run r
      where finished_at is null
        and coalesce((select o.finished_at is not null from dws.operation o where o.id = r.operation_id), true)`,
  });
  for (const run of lost)
    await database
      .transaction(run.tenantId, (tx) => endAgentRun(tx, run, { status: 'failed', error: RUN_LOST }))
      .catch((error: unknown) => log.error({ err: error, run: run.agentRunId }, 'Could not end a lost run'));
}
