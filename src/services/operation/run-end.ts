import type { OperationStatus } from '../../core/operations.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { notify } from '../resource/notification.ts';

/** Number of runs of each job and of each agent that are kept. */
const MAX_RUNS = 1000;

/** The tables of runs, with their columns for the job or agent. */
const PARENTS = { job_run: 'job_id', agent_run: 'agent_id' } as const;
type RunTable = keyof typeof PARENTS;

/** How a run ended. */
export interface RunOutcome {
  status: Extract<OperationStatus, 'succeeded' | 'failed' | 'cancelled'>;
  /** Why it did not succeed, in one sentence; null for a success. */
  error: string | null;
}

/** The end of a run that was cancelled. */
export const RUN_CANCELLED = { status: 'cancelled', error: 'The run was cancelled' } as const satisfies RunOutcome;

/** The end of a run whose operation has ended without it. */
export const RUN_LOST = {
  status: 'failed',
  error: 'The worker process ended before the run was done',
} as const satisfies RunOutcome;

/** Returns SQL for the status of the last run, except one, that succeeded or failed. */
export const formerStatusSql = (table: RunTable, parentId: string, runId: string): string => `(
  select status from dws.${table}
  where tenant_id = $1 and ${PARENTS[table]} = ${parentId} and id <> ${runId} and status in ('succeeded', 'failed')
  order by created_at desc, id desc
  limit 1
)`;

/** Deletes the oldest runs of a job or an agent with too many. */
export const pruneRuns = (
  tx: Pick<Transaction, 'execute'>,
  table: RunTable,
  tenantId: string,
  parentId: string,
): void =>
  tx.execute({
    text: `
      delete from dws.${table}
      where tenant_id = $1 and id in (
        select id from dws.${table}
        where tenant_id = $1 and ${PARENTS[table]} = $2
        order by created_at desc, id desc
        offset ${MAX_RUNS}
      )`,
    values: [tenantId, parentId],
  });

/** Notifies the owner of a job or an agent of a failed run, unless the run before it failed, too. */
export async function notifyFirstFailure(
  tx: Transaction,
  kind: 'job' | 'agent',
  run: { tenantId: string; id: string; name: string; owner: string; formerStatus: OperationStatus | null },
): Promise<void> {
  if (run.formerStatus === 'failed') return;
  await notify(tx, run.tenantId, [run.owner], {
    type: `${kind}.run.failed`,
    message: `A run of the ${kind} ${run.name} failed`,
    resource: { kind, id: run.id },
  });
}

/**
 * Ends the runs whose operation has ended without them, e.g. in a restored backup. `columns` is SQL of the columns of a
 * run `r` that `end` requires.
 */
export async function endLostRuns<R extends { tenantId: string }>(
  { system, database, log }: Platform,
  { table, columns }: { table: RunTable; columns: string },
  end: (tx: Transaction, run: R) => Promise<unknown>,
  signal?: AbortSignal,
): Promise<void> {
  const lost = await system.query<R & { id: string } & Record<string, unknown>>({
    text: `
      select r.id, r.tenant_id as "tenantId", ${columns}
      from dws.${table} r
      where r.finished_at is null
        and coalesce((select o.finished_at is not null from dws.operation o where o.id = r.operation_id), true)`,
  });
  for (const run of lost) {
    signal?.throwIfAborted();
    await database
      .transaction(run.tenantId, async (tx) => void (await end(tx, run)))
      .catch((error: unknown) => log.error({ err: error, run: run.id }, 'Could not end a lost run'));
  }
}
