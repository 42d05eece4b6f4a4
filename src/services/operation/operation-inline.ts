import type { Context } from '../../core/context.ts';
import { cancelled, conflict } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { acquireLease } from './operation-lease.ts';
import { progressAlias } from './operation-record.ts';
import { failureOf, finish, lockLease, type Claim, type Outcome, type Progress } from './operation-repository.ts';
import type { OperationRequest } from './operation.ts';

/** Milliseconds between heartbeats; the reconciler records the operation failed when they stop. */
const HEARTBEAT = 5_000;

/** What work in the called process is given. */
export interface InlineJob {
  /** Aborts when the caller cancels. */
  signal: AbortSignal;
  progress(update: Progress): void;
}

/**
 * Does short work in this process, for a caller who waits (contract 6: `_run` and previews). With `progress` it has a record like any operation: it can be
 * followed and cancelled, and is recorded failed when this process dies. Without, there is nothing but the work.
 */
export async function runInline<T>(
  ctx: Context,
  request: Omit<OperationRequest, 'input' | 'concurrencyKey' | 'fingerprint'>,
  work: (errand: InlineJob) => Promise<T>,
): Promise<T> {
  const alias = progressAlias(request.progress);
  if (alias === null) return work({ signal: new AbortController().signal, progress() {} });
  const claim = await begin(ctx, request, alias);
  const held = acquireLease(ctx.platform, claim, HEARTBEAT);
  try {
    const result = await work({ signal: held.signal, progress: held.progress });
    await held.release();
    await end(ctx, claim, { status: 'succeeded', result });
    return result;
  } catch (error) {
    await held.release();
    const reason: unknown = held.signal.aborted ? held.signal.reason : error;
    const failure = failureOf(reason);
    await end(ctx, claim, { status: failure.code === 'CANCELLED' ? 'cancelled' : 'failed', error: failure }).catch(
      (late: unknown) => ctx.platform.log.warn({ err: late }, 'The end of an operation could not be recorded'),
    );
    throw reason;
  }
}

/** The record of work that has begun already. */
async function begin(
  { query, viewer }: Context,
  request: Omit<OperationRequest, 'input'>,
  alias: string,
): Promise<Claim> {
  const id = newId();
  const [begun] = await query<{ startedAt: Date }>({
    text: `insert into dws.operation (id, work_id, tenant_id, user_id, progress, operation, resource_kind, resource_id, status, unit, attempt, sequence, started_at, heartbeat_at)
      values ($1, $1, $2, $3, $4, $5, $6, $7, 'running', $8, 1, 1, now(), now())
      on conflict (tenant_id, user_id, progress) where progress is not null and finished_at is null do nothing returning started_at as "startedAt"`,
    values: [
      id,
      viewer.tenantId,
      viewer.userId,
      alias,
      request.operation,
      request.resource.kind,
      request.resource.id,
      request.unit ?? null,
    ],
  });
  if (!begun) throw conflict(`Your operation "${alias}" is still running`);
  return {
    workId: id,
    tenantId: viewer.tenantId,
    userId: viewer.userId,
    attempt: 1,
    operation: request.operation,
    resourceKind: request.resource.kind,
    resourceId: request.resource.id,
    input: {},
    concurrencyKey: null,
    startedAt: begun.startedAt,
  };
}

/** Records the end. What was cancelled at the last moment is cancelled, although the work is done. */
async function end({ transaction, platform }: Context, claim: Claim, outcome: Outcome): Promise<void> {
  const standing = await transaction(async (tx) => {
    const found = await lockLease(tx, claim);
    if (found === 'lost') return found;
    await finish(
      platform,
      tx,
      claim,
      found === 'cancelled' ? { status: 'cancelled', error: failureOf(cancelled()) } : outcome,
    );
    return found;
  });
  if (standing === 'cancelled' && outcome.status === 'succeeded') throw cancelled();
}
