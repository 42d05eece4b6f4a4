import { ApiError } from '../../core/errors.ts';
import type { OperationFailure, OperationName, QueuedWork } from '../../core/operations.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { startNext, lockConcurrencyKey } from './operation-concurrency.ts';

/** A piece of work in the hands of one worker, at its `attempt`. Every write of a worker names the attempt: after a takeover it finds nothing to write. */
export interface Claim extends QueuedWork {
  attempt: number;
  operation: OperationName;
  /** Who asked first. */
  userId: string;
  resourceKind: string;
  resourceId: string;
  input: Record<string, unknown>;
  concurrencyKey: string | null;
  startedAt: Date;
}

/** How far the work is. Absent keys keep what was told before. */
export interface Progress {
  current?: number;
  total?: number;
  percent?: number;
  unit?: string;
  message?: string;
}

/** Whether the work is still this worker's to do. */
export type LeaseState = 'held' | 'cancelled' | 'lost';

export type Outcome =
  | { status: 'succeeded'; result: unknown }
  | { status: 'failed' | 'cancelled'; error: OperationFailure };

/** Another worker took the work over: whatever this one still has must not become visible. */
export class Superseded extends Error {
  constructor() {
    super('Another attempt took the operation over');
  }
}

const CLAIM = `work_id as "workId", tenant_id as "tenantId", attempt, operation, user_id as "userId", resource_kind as "resourceKind", resource_id as "resourceId", input, concurrency_key as "concurrencyKey",
  started_at as "startedAt"`;
const HOLDS_LEASE = `tenant_id = $1 and work_id = $2 and attempt = $3 and status = 'running' and finished_at is null`;
const leaseValues = (claim: Claim): unknown[] => [claim.tenantId, claim.workId, claim.attempt];

/** Takes a waiting piece of work whose turn it is. Null when there is none: it ended, runs elsewhere, or waits for others with its concurrency key, whose end wakes it. */
export function claim(platform: Platform, { workId, tenantId }: QueuedWork): Promise<Claim | null> {
  return platform.database.transaction(tenantId, async (tx) => {
    const [open] = await tx.query<{ concurrencyKey: string | null }>({
      text: `select concurrency_key as "concurrencyKey" from dws.operation where tenant_id = $1 and work_id = $2 and finished_at is null limit 1`,
      values: [tenantId, workId],
    });
    if (!open) return null;
    if (open.concurrencyKey) await lockConcurrencyKey(tx, open.concurrencyKey);
    const [claimed] = await tx.query<Claim & Record<string, unknown>>({
      text: `update dws.operation o set status = 'running', attempt = attempt + 1, started_at = coalesce(started_at, now()), heartbeat_at = now(), updated_at = now(), sequence = sequence + 1
        where tenant_id = $1 and work_id = $2 and status = 'queued' and finished_at is null
          and not exists (select from dws.operation b where b.tenant_id = $1 and b.concurrency_key = o.concurrency_key and b.finished_at is null and b.work_id < o.work_id)
        returning ${CLAIM}`,
      values: [tenantId, workId],
    });
    return claimed ?? null;
  });
}

/** Says that the worker lives, and learns whether it should go on. */
export function heartbeat(platform: Platform, claim: Claim): Promise<LeaseState> {
  return write(platform, claim, '', []);
}

/** Writes how far the work is, and learns whether it should go on. */
export function reportProgress(
  platform: Platform,
  claim: Claim,
  { current, total, percent, unit, message }: Progress,
): Promise<LeaseState> {
  const share = percent ?? (total && current !== undefined ? Math.min(100, (100 * current) / total) : undefined);
  return write(
    platform,
    claim,
    `, current = coalesce($4, current), total = coalesce($5, total), percent = coalesce($6, percent), unit = coalesce($7, unit), message = coalesce($8, message),
    updated_at = now(), sequence = sequence + 1`,
    [current ?? null, total ?? null, share ?? null, unit ?? null, message ?? null],
  );
}

async function write(platform: Platform, claim: Claim, assignments: string, values: unknown[]): Promise<LeaseState> {
  const rows = await platform.database.query<{ cancelled: boolean }>(claim.tenantId, {
    text: `update dws.operation set heartbeat_at = now()${assignments} where ${HOLDS_LEASE} returning cancelled_at is not null as cancelled`,
    values: [...leaseValues(claim), ...values],
  });
  return leaseStateOf(rows);
}

/** Reads whether the worker should go on. */
export async function readLeaseState(platform: Platform, claim: Claim): Promise<LeaseState> {
  return leaseStateOf(
    await platform.database.query<{ cancelled: boolean }>(claim.tenantId, {
      text: `select cancelled_at is not null as cancelled from dws.operation where ${HOLDS_LEASE}`,
      values: leaseValues(claim),
    }),
  );
}

const leaseStateOf = (rows: { cancelled: boolean }[]): LeaseState =>
  rows.length === 0 ? 'lost' : rows.some((row) => row.cancelled) ? 'cancelled' : 'held';

/** Locks the work for its end. Nobody takes it over, cancels it or joins it before the transaction is over. */
export async function lockLease(tx: Transaction, claim: Claim): Promise<LeaseState> {
  if (claim.concurrencyKey) await lockConcurrencyKey(tx, claim.concurrencyKey);
  return leaseStateOf(
    await tx.query<{ cancelled: boolean }>({
      text: `select cancelled_at is not null as cancelled from dws.operation where ${HOLDS_LEASE} order by id for update`,
      values: leaseValues(claim),
    }),
  );
}

/** Records how the work ended, for all who wait for it, and wakes the next with its concurrency key. Call it after `lockLease` in the same transaction. */
export async function finish(platform: Platform, tx: Transaction, claim: Claim, outcome: Outcome): Promise<void> {
  const succeeded = outcome.status === 'succeeded';
  await tx.query({
    text: `update dws.operation set status = $4, result = $5, error = $6, percent = case when $7 then 100 else percent end, heartbeat_at = null,
      finished_at = now(), updated_at = now(), sequence = sequence + 1 where ${HOLDS_LEASE}`,
    values: [
      ...leaseValues(claim),
      outcome.status,
      succeeded ? JSON.stringify(outcome.result ?? null) : null,
      succeeded ? null : JSON.stringify(outcome.error),
      succeeded,
    ],
  });
  if (claim.concurrencyKey) await startNext(platform.queue, tx, claim.tenantId, claim.concurrencyKey);
}

/** Gives the work back to the queue, to start again elsewhere. Does nothing unless it is still this attempt's; answers whether it was. */
export function requeue(platform: Platform, claim: Claim): Promise<LeaseState> {
  return platform.database.transaction(claim.tenantId, async (tx) => {
    const standing = await lockLease(tx, claim);
    if (standing !== 'held') return standing;
    await tx.query({
      text: `update dws.operation set status = 'queued', heartbeat_at = null, percent = null, current = 0, total = null, message = null, updated_at = now(), sequence = sequence + 1 where ${HOLDS_LEASE}`,
      values: leaseValues(claim),
    });
    await platform.queue.send(claim, tx);
    return standing;
  });
}

/** What the waiting caller is told. What is no fault for clients is ours and says no more than that. */
export const failureOf = (error: unknown): OperationFailure =>
  error instanceof ApiError
    ? { statusCode: error.status, code: error.code, message: error.message }
    : { statusCode: 500, code: 'INTERNAL', message: 'Something went wrong on our side' };

/** Work that waits or runs without a worker for longer than `silence` milliseconds. For the reconciler, across tenants. */
export async function abandoned(
  platform: Platform,
  silence: number,
): Promise<{ running: Claim[]; queued: QueuedWork[] }> {
  const running = await platform.system.query<Claim & Record<string, unknown>>({
    text: `select distinct on (work_id) ${CLAIM} from dws.operation where finished_at is null and status = 'running' and heartbeat_at < now() - $1 * interval '1 ms' order by work_id, id`,
    values: [silence],
  });
  const queued = await platform.system.query<QueuedWork & Record<string, unknown>>({
    text: `select distinct work_id as "workId", tenant_id as "tenantId" from dws.operation o where finished_at is null and status = 'queued' and updated_at < now() - $1 * interval '1 ms'
      and not exists (select from dws.operation b where b.concurrency_key = o.concurrency_key and b.finished_at is null and b.work_id < o.work_id) order by 1 limit 1000`,
    values: [silence],
  });
  return { running, queued };
}
