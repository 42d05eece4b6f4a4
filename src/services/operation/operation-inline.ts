import type { Context } from '../../core/context.ts';
import { cancelled, conflict } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { acquireLease } from './operation-lease.ts';
import { insertOperations } from './operation-queue.ts';
import { parseProgressAlias } from './operation-record.ts';
import { failureOf, finish, lockLease, type Attempt, type Outcome, type Progress } from './operation-repository.ts';
import type { OperationSubject } from './operation.ts';

/** Pause between heartbeats. Without them the reconciler records the operation as failed. */
const HEARTBEAT_MS = 5_000;

/** Access of an inline operation to its progress and cancellation. */
interface InlineJob {
  /** Aborts when the caller cancels. */
  signal: AbortSignal;
  progress(update: Progress): void;
}

/**
 * Runs a short operation in this process, for a caller who waits, and returns its result. With `progress` it has a
 * record like any operation: it can be followed and cancelled, and is recorded as failed when this process dies.
 * Throws what `work` throws, CANCELLED, and CONFLICT for a `progress` in use. See
 * docs/contract/operations.md#inline-operations.
 */
export async function runInline<T>(
  ctx: Context,
  subject: OperationSubject,
  work: (job: InlineJob) => Promise<T>,
): Promise<T> {
  const alias = parseProgressAlias(subject.progress);
  if (alias === null) return work({ signal: new AbortController().signal, progress() {} });
  const attempt = await insertRunning(ctx, subject, alias);
  const lease = acquireLease(ctx.platform, attempt, HEARTBEAT_MS);
  try {
    const result = await work({ signal: lease.signal, progress: lease.progress });
    await lease.release();
    await recordOutcome(ctx, attempt, { status: 'succeeded', result });
    return result;
  } catch (error) {
    await lease.release();
    const reason: unknown = lease.signal.aborted ? lease.signal.reason : error;
    const failure = failureOf(reason);
    const status = failure.code === 'CANCELLED' ? 'cancelled' : 'failed';
    await recordOutcome(ctx, attempt, { status, error: failure }).catch((recordError: unknown) =>
      ctx.platform.log.warn({ err: recordError }, 'Could not record the outcome of an operation'),
    );
    throw reason;
  }
}

/** Inserts the record of an operation that is already running. Throws CONFLICT for an alias in use. */
async function insertRunning(
  { query, viewer }: Context,
  { operation, resource, unit }: OperationSubject,
  alias: string,
): Promise<Attempt> {
  const { tenantId, userId } = viewer;
  const id = newId();
  const row = { id, tenantId, userId, progress: alias, operation, resource, unit };
  if ((await insertOperations(query, [row], 'running')) === 0)
    throw conflict(`Your operation "${alias}" is still running`);
  return { workId: id, tenantId, userId, operation, attempt: 1, concurrencyKey: null };
}

/** Records the outcome. Throws CANCELLED when the operation was cancelled before its success was recorded. */
async function recordOutcome({ transaction, platform }: Context, attempt: Attempt, outcome: Outcome): Promise<void> {
  const isCancelled = await transaction(async (tx) => {
    const leaseState = await lockLease(tx, attempt);
    if (leaseState === 'lost') return false;
    if (leaseState === 'held') {
      await finish(platform, tx, attempt, outcome);
      return false;
    }
    await finish(platform, tx, attempt, { status: 'cancelled', error: failureOf(cancelled()) });
    return true;
  });
  if (isCancelled && outcome.status === 'succeeded') throw cancelled();
}
