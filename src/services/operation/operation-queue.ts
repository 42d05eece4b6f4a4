import type { Query } from '../../core/database.ts';
import { lockKey } from '../../core/locks.ts';
import type { OperationName, OperationInputs } from '../../core/operations.ts';
import type { OperationQueue, Transaction } from '../../core/platform.ts';
import { currentTraceparent } from '../../core/tracing.ts';

/**
 * Locks a concurrency key until the transaction ends. Starting, claiming and finishing an operation with a key take
 * this lock before they lock any row of it.
 */
export function lockConcurrencyKey(tx: Pick<Transaction, 'execute'>, concurrencyKey: string): void {
  lockKey(tx, `dws.concurrency_key:${concurrencyKey}`);
}

/**
 * Locks the starts of a user's operations until the transaction ends, after the locks that precede it in the order of
 * `lockKey`.
 */
export function lockUser(tx: Pick<Transaction, 'execute'>, userId: string): void {
  lockKey(tx, `dws.operations_of:${userId}`);
}

/**
 * Sends the oldest waiting operation with a concurrency key to the queue. Call it in the transaction that finishes the
 * operation before it, under the key's lock.
 */
export async function sendNext(
  queue: OperationQueue,
  tx: { query: Query },
  tenantId: string,
  concurrencyKey: string,
): Promise<void> {
  const [next] = await tx.query<{
    workId: string;
    userId: string;
    operation: OperationName;
    status: string;
    startAfter: Date | null;
  }>({
    text: `select work_id as "workId", user_id as "userId", operation, status, next_attempt_at as "startAfter"
      from dws.operation
      where tenant_id = $1 and concurrency_key = $2 and finished_at is null
      order by work_id, id
      limit 1`,
    values: [tenantId, concurrencyKey],
  });
  if (next?.status !== 'queued') return;
  const { workId, userId, operation, startAfter } = next;
  await queue.send([{ workId, tenantId, userId, operation, ...(startAfter && { startAfter }) }], tx);
}

/** An operation to insert. */
export interface NewOperation<N extends OperationName = OperationName> {
  id: string;
  /** Default: the id. Operations that join another one have its work. */
  workId?: string;
  tenantId: string;
  userId: string;
  operation: N;
  resource: { kind: string; id: string };
  /** Default: none, for inline operations. */
  input?: OperationInputs[N];
  /** The caller's own name, unique among their unfinished operations. */
  progress?: string | null;
  unit?: string;
  concurrencyKey?: string;
  fingerprint?: string;
  /** Default: the current trace of the caller. */
  traceparent?: string | null;
}

const INSERT = `
  insert into dws.operation (
    id, work_id, tenant_id, user_id, progress, operation, resource_kind, resource_id, input, unit, concurrency_key,
    fingerprint, traceparent, status, attempt, sequence, started_at, heartbeat_at
  )
  select id, work_id, tenant_id, user_id, progress, operation, resource_kind, resource_id, coalesce(input, '{}'), unit,
    concurrency_key, fingerprint, traceparent, status, attempt, attempt, started_at, started_at
  from jsonb_to_recordset($1) r (
    id uuid, work_id uuid, tenant_id uuid, user_id uuid, progress text, operation text, resource_kind text,
    resource_id uuid, input jsonb, unit text, concurrency_key text, fingerprint text, traceparent text
  )
  cross join (
    select $2::text as status, case when $2 = 'running' then 1 else 0 end as attempt,
      case when $2 = 'running' then now() end as started_at
  ) state
  on conflict (tenant_id, user_id, progress) where progress is not null and finished_at is null do nothing
  returning id`;

/**
 * Inserts operations, which the caller sends to the queue, or which already run in this process. Returns the number of
 * inserted operations: an operation whose `progress` is in use is left out.
 */
export async function insertOperations(
  query: Query,
  operations: readonly NewOperation[],
  status: 'queued' | 'running',
): Promise<number> {
  const rows = operations.map((row) => ({
    id: row.id,
    work_id: row.workId ?? row.id,
    tenant_id: row.tenantId,
    user_id: row.userId,
    progress: row.progress,
    operation: row.operation,
    resource_kind: row.resource.kind,
    resource_id: row.resource.id,
    input: row.input,
    unit: row.unit,
    concurrency_key: row.concurrencyKey,
    fingerprint: row.fingerprint,
    traceparent: row.traceparent === undefined ? currentTraceparent() : row.traceparent,
  }));
  return (await query({ text: INSERT, values: [JSON.stringify(rows), status] })).length;
}

/** Inserts operations without names of their callers, and sends them to the queue. */
export async function queueOperations(
  queue: OperationQueue,
  query: Query,
  operations: readonly Omit<NewOperation, 'progress'>[],
): Promise<void> {
  await insertOperations(query, operations, 'queued');
  const work = operations.map(({ id, tenantId, userId, operation }) => ({ workId: id, tenantId, userId, operation }));
  await queue.send(work, { query });
}
