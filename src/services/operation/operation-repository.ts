import { toApiError } from '../../core/api-error.ts';
import type { ApiError } from '../../core/errors.ts';
import { observeQueueWait } from '../../core/metrics.ts';
import type { OperationFailure, OperationInputs, OperationName, QueuedWork } from '../../core/operations.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { lockConcurrencyKey, sendNext } from './operation-queue.ts';

/** One attempt at a work item. Every write of a worker names its attempt, so after a takeover it changes nothing. */
export interface Attempt extends QueuedWork {
  /** Counts from 1. */
  attempt: number;
  concurrencyKey: string | null;
}

/** A work item that a worker has claimed. */
export interface Claim<N extends OperationName = OperationName> extends Attempt {
  operation: N;
  resourceKind: string;
  resourceId: string;
  input: OperationInputs[N];
  startedAt: Date;
  createdAt: Date;
  /** Trace of the request, which the attempt continues. */
  traceparent: string | null;
}

/** Progress of an operation. Absent keys keep their last value; null is unknown. */
export interface Progress {
  current?: number;
  total?: number | null;
  percent?: number | null;
  unit?: string;
  message?: string;
}

/** Maximum percentage of an operation that runs. Only a finished one has 100. */
const MAX_RUNNING_PERCENT = 99;

/** Whether a worker may continue: its lease is held, cancelled by the caller, or lost to another attempt. */
export type LeaseState = 'held' | 'cancelled' | 'lost';

export type Outcome =
  | { status: 'succeeded'; result: unknown; message?: string | null }
  | { status: 'failed' | 'cancelled'; error: OperationFailure; result?: unknown };

/** Thrown after a takeover by another worker. The former attempt publishes nothing. */
export class Superseded extends Error {
  constructor() {
    super('Another attempt took the operation over');
  }
}

const CLAIM_COLUMNS = `work_id as "workId", tenant_id as "tenantId", attempt, operation, user_id as "userId",
  resource_kind as "resourceKind", resource_id as "resourceId", input, concurrency_key as "concurrencyKey",
  started_at as "startedAt", created_at as "createdAt", traceparent`;
const HOLDS_LEASE = `tenant_id = $1 and work_id = $2 and attempt = $3 and status = 'running' and finished_at is null`;
const leaseValues = ({ tenantId, workId, attempt }: Attempt): unknown[] => [tenantId, workId, attempt];

/**
 * Claims a queued work item. Returns null when it has ended, runs elsewhere, or waits for another operation with its
 * concurrency key, which sends it to the queue again when it ends.
 */
export function claimWork(
  platform: Platform,
  { workId, tenantId }: Pick<QueuedWork, 'workId' | 'tenantId'>,
): Promise<Claim | null> {
  return platform.database.transaction(tenantId, async (tx) => {
    const [open] = await tx.query<{ concurrencyKey: string | null }>({
      text: `select concurrency_key as "concurrencyKey"
        from dws.operation
        where tenant_id = $1 and work_id = $2 and finished_at is null
        limit 1`,
      values: [tenantId, workId],
    });
    if (!open) return null;
    if (open.concurrencyKey) lockConcurrencyKey(tx, open.concurrencyKey);
    const [claim] = await tx.query<Claim & Record<string, unknown>>({
      text: `update dws.operation o
        set status = 'running', attempt = attempt + 1, started_at = coalesce(started_at, clock_timestamp()),
          heartbeat_at = now(), next_attempt_at = null, updated_at = now(), sequence = sequence + 1
        where tenant_id = $1 and work_id = $2 and status = any($3) and finished_at is null
          and (next_attempt_at is null or next_attempt_at <= now())
          and not exists (
            select from dws.operation b
            where b.tenant_id = $1 and b.concurrency_key = o.concurrency_key and b.finished_at is null
              and (b.work_id < o.work_id or b.status = 'running')
          )
        returning ${CLAIM_COLUMNS}`,
      // As a parameter, so that the planner does not read the whole index of queued operations.
      values: [tenantId, workId, ['queued']],
    });
    if (claim?.attempt === 1) observeQueueWait(claim.operation, claim.createdAt);
    return claim ?? null;
  });
}

/** Records that the worker is alive. Returns whether it may continue. */
export function sendHeartbeat(platform: Platform, attempt: Attempt): Promise<LeaseState> {
  return updateHeld(platform, attempt, '', []);
}

/** Writes the progress. Returns whether the worker may continue. */
export function reportProgress(
  platform: Platform,
  attempt: Attempt,
  { current, total, percent, unit, message }: Progress,
): Promise<LeaseState> {
  const share = percent !== undefined || !total || current === undefined ? percent : (100 * current) / total;
  return updateHeld(
    platform,
    attempt,
    `, current = coalesce($4, current), total = case when $5 then $6 else total end,
        percent = case when $7 then $8 else percent end,
        unit = coalesce($9, unit), message = coalesce($10, message), updated_at = now(), sequence = sequence + 1`,
    [
      current ?? null,
      total !== undefined,
      total ?? null,
      share !== undefined,
      share == null ? null : Math.min(MAX_RUNNING_PERCENT, share),
      unit ?? null,
      message ?? null,
    ],
  );
}

async function updateHeld(
  platform: Platform,
  attempt: Attempt,
  assignments: string,
  values: unknown[],
): Promise<LeaseState> {
  const rows = await platform.database.query<{ cancelled: boolean }>(attempt.tenantId, {
    text: `update dws.operation
      set heartbeat_at = now()${assignments}
      where ${HOLDS_LEASE}
      returning cancelled_at is not null as cancelled`,
    values: [...leaseValues(attempt), ...values],
  });
  return leaseStateOf(rows);
}

/** Returns whether the worker may continue. */
export async function readLeaseState(platform: Platform, attempt: Attempt): Promise<LeaseState> {
  return leaseStateOf(
    await platform.database.query<{ cancelled: boolean }>(attempt.tenantId, {
      text: `select cancelled_at is not null as cancelled from dws.operation where ${HOLDS_LEASE}`,
      values: leaseValues(attempt),
    }),
  );
}

const leaseStateOf = (rows: { cancelled: boolean }[]): LeaseState =>
  rows.length === 0 ? 'lost' : rows.some((row) => row.cancelled) ? 'cancelled' : 'held';

/** Locks the work item, so that no one takes it over, cancels or joins it before the transaction ends. */
export async function lockLease(tx: Transaction, attempt: Attempt): Promise<LeaseState> {
  if (attempt.concurrencyKey) lockConcurrencyKey(tx, attempt.concurrencyKey);
  return leaseStateOf(
    await tx.query<{ cancelled: boolean }>({
      text: `select cancelled_at is not null as cancelled
        from dws.operation
        where ${HOLDS_LEASE}
        order by id
        for update`,
      values: leaseValues(attempt),
    }),
  );
}

/**
 * Records the outcome for all operations that share the work, and sends the next one with its concurrency key. Call it
 * after `lockLease` in the same transaction. Callers with a refusal, by their ids, get that error in place of the outcome.
 */
export async function finish(
  platform: Platform,
  tx: Transaction,
  attempt: Attempt,
  outcome: Outcome,
  refusals: ReadonlyMap<string, ApiError> = new Map(),
): Promise<void> {
  for (const [userId, error] of refusals) await finishRefused(tx, attempt, userId, error);
  const succeeded = outcome.status === 'succeeded';
  await tx.query({
    text: `update dws.operation
      set status = $4, result = $5, error = $6, percent = case when $7 then 100 else percent end,
        message = case when $7 then $8 else message end, heartbeat_at = null,
        finished_at = now(), updated_at = now(), sequence = sequence + 1
      where ${HOLDS_LEASE}`,
    values: [
      ...leaseValues(attempt),
      outcome.status,
      succeeded || outcome.result !== undefined ? JSON.stringify(outcome.result ?? null) : null,
      succeeded ? null : JSON.stringify(outcome.error),
      succeeded,
      succeeded ? (outcome.message ?? null) : null,
    ],
  });
  if (attempt.concurrencyKey) await sendNext(platform.queue, tx, attempt.tenantId, attempt.concurrencyKey);
}

/** Records the error of a caller who may not see the outcome of the work. */
async function finishRefused(tx: Transaction, attempt: Attempt, userId: string, error: ApiError): Promise<void> {
  await tx.query({
    text: `update dws.operation
      set status = 'failed', error = $5, message = null, heartbeat_at = null, finished_at = now(), updated_at = now(),
        sequence = sequence + 1
      where ${HOLDS_LEASE} and user_id = $4`,
    values: [...leaseValues(attempt), userId, JSON.stringify(failureOf(error))],
  });
}

/** Returns the work item to the queue, for another attempt, if its lease is held. Returns the state of the lease. */
export function requeue(platform: Platform, attempt: Attempt): Promise<LeaseState> {
  return platform.database.transaction(attempt.tenantId, async (tx) => {
    const leaseState = await lockLease(tx, attempt);
    if (leaseState !== 'held') return leaseState;
    await tx.query({
      text: `update dws.operation
        set status = 'queued', heartbeat_at = null, percent = null, current = 0, total = null, message = null,
          updated_at = now(), sequence = sequence + 1
        where ${HOLDS_LEASE}`,
      values: leaseValues(attempt),
    });
    await platform.queue.send([attempt], tx);
    return leaseState;
  });
}

/** Returns the failure that the caller gets. Unexpected errors become INTERNAL without details. */
export function failureOf(error: unknown): OperationFailure {
  const known = toApiError(error);
  return known
    ? {
        statusCode: known.status,
        code: known.code,
        message: known.message,
        ...(known.validation && { validation: known.validation }),
      }
    : { statusCode: 500, code: 'INTERNAL', message: 'Something went wrong on our side' };
}

/** Finds work of all tenants that has been running without a heartbeat for longer than `timeoutMs`. */
export const findAbandoned = (platform: Platform, timeoutMs: number): Promise<Claim[]> =>
  platform.system.query<Claim & Record<string, unknown>>({
    text: `select distinct on (work_id) ${CLAIM_COLUMNS}
      from dws.operation
      where finished_at is null and status = 'running' and heartbeat_at < now() - $1 * interval '1 ms'
      order by work_id, id`,
    values: [timeoutMs],
  });

/** Finds work of all tenants that has been queued for longer than `timeoutMs`, and waits for no other work. */
export const findUnclaimed = (platform: Platform, timeoutMs: number): Promise<QueuedWork[]> =>
  platform.system.query<QueuedWork & Record<string, unknown>>({
    text: `select distinct on (work_id) work_id as "workId", tenant_id as "tenantId", user_id as "userId", operation
      from dws.operation o
      where finished_at is null and status = 'queued'
        and greatest(updated_at, next_attempt_at) < now() - $1 * interval '1 ms'
        and not exists (
          select from dws.operation b
          where b.concurrency_key = o.concurrency_key and b.finished_at is null and b.work_id < o.work_id
        )
      order by work_id, id
      limit 1000`,
    values: [timeoutMs],
  });
