import type { Context } from '../../core/context.ts';
import { cancelled, conflict, tooMany } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { endCancelled, type EndingOperation } from '../../core/operation-ends.ts';
import { CHANNELS, type OperationInputs, type OperationName, type OperationStatus } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import { insertOperations, lockConcurrencyKey, lockUser, sendNext } from './operation-queue.ts';
import { parseProgressAlias, readRecord, type OperationRecord } from './operation-record.ts';
import { failureOf } from './operation-repository.ts';

/** The part of an operation's record that is known before it runs. */
export interface OperationSubject {
  operation: OperationName;
  resource: { kind: string; id: string };
  /** The caller's own name for the operation, unique among their unfinished ones. */
  progress?: string | number | null;
  /** The unit that `current` counts, e.g. `rows`. */
  unit?: string;
}

/** An operation to start. */
export interface OperationRequest<N extends OperationName = OperationName> extends OperationSubject {
  operation: N;
  input: OperationInputs[N];
  /** Operations with the same key run one at a time, in the order of their requests. */
  concurrencyKey?: string;
  /** Joins an operation with the same key and fingerprint that has not started yet. */
  fingerprint?: string;
}

/** Maximum number of operations of one user that wait to run. */
const MAX_WAITING_OPERATIONS = 100;

/**
 * Starts an operation in the transaction of the change that requests it. Returns its id, to wait for after the commit.
 * Throws CONFLICT for a `progress` in use, RATE_LIMITED when too many operations of the caller wait.
 */
export async function start<N extends OperationName>(
  { viewer, platform, request: caller }: Pick<Context, 'viewer' | 'platform'> & Partial<Pick<Context, 'request'>>,
  tx: Transaction,
  request: OperationRequest<N>,
): Promise<string> {
  const { tenantId, userId } = viewer;
  const { concurrencyKey, fingerprint } = request;
  const alias = parseProgressAlias(request.progress);
  if (concurrencyKey) lockConcurrencyKey(tx, concurrencyKey);
  // Runs of jobs have their own limit, and the operations that they start have none.
  if (viewer.authMethod !== 'job') await checkWaiting(tx, viewer);
  // Created under the lock, because operations with a key run in the order of their ids.
  const id = newId();
  const joinedWorkId =
    concurrencyKey && fingerprint ? await findQueuedWork(tx, tenantId, concurrencyKey, fingerprint) : undefined;
  const workId = joinedWorkId ?? id;
  const { operation, resource, input, unit } = request;
  const row = {
    id,
    workId,
    tenantId,
    userId,
    progress: alias,
    operation,
    resource,
    input,
    unit,
    concurrencyKey,
    fingerprint,
  };
  if ((await insertOperations(tx.query, [row], 'queued')) === 0)
    throw conflict(`Your operation "${alias}" is still running`);
  caller?.keyed?.noteOperation(id);
  if (!joinedWorkId) await platform.queue.send([{ workId, tenantId, userId, operation }], tx);
  return id;
}

/** Limits the waiting operations of a user, exactly: other starts of the user wait for the end of this transaction. */
async function checkWaiting(tx: Transaction, { tenantId, userId }: Context['viewer']): Promise<void> {
  lockUser(tx, userId);
  const waiting = await tx.query({
    text: `select
      from dws.operation
      where tenant_id = $1 and user_id = $2 and status = 'queued' and finished_at is null and next_attempt_at is null
      limit ${MAX_WAITING_OPERATIONS}`,
    values: [tenantId, userId],
  });
  if (waiting.length < MAX_WAITING_OPERATIONS) return;
  throw tooMany(`A user may have at most ${MAX_WAITING_OPERATIONS} waiting operations`, {
    headers: { 'retry-after': '10' },
  });
}

/** Returns the id of the latest work with this key and fingerprint that has not started yet. */
async function findQueuedWork(
  tx: Transaction,
  tenantId: string,
  concurrencyKey: string,
  fingerprint: string,
): Promise<string | undefined> {
  const [waiting] = await tx.query<{ workId: string }>({
    text: `select work_id as "workId"
      from dws.operation
      where tenant_id = $1 and concurrency_key = $2 and fingerprint = $3
        and status = 'queued' and started_at is null and finished_at is null
      order by work_id desc
      limit 1`,
    values: [tenantId, concurrencyKey, fingerprint],
  });
  return waiting?.workId;
}

/** Returns an operation of the caller by its id or its `progress`. Throws NOT_FOUND for operations of other users. */
export const get = (ctx: Context, idOrAlias: string): Promise<OperationRecord> =>
  readRecord(ctx.query, ctx.viewer, idOrAlias);

/**
 * Cancels the caller's operation and returns its record. A queued operation ends immediately. A running one is
 * signalled to stop, including its statement in the source, and ends once it has stopped. If other operations share the
 * work, only the caller's ends. Throws CONFLICT for a finished operation.
 */
export async function cancel(ctx: Context, idOrAlias: string): Promise<OperationRecord> {
  const { id } = await get(ctx, idOrAlias);
  await cancelById(ctx, id);
  return get(ctx, id);
}

/** Cancels an operation of any user, like `cancel`: the caller has checked that the viewer may. */
export async function cancelById(ctx: Context, id: string): Promise<void> {
  const { tenantId } = ctx.viewer;
  await ctx.transaction(async (tx) => {
    const target = await readCancellable(tx, tenantId, id);
    if (target?.concurrencyKey) lockConcurrencyKey(tx, target.concurrencyKey);
    const unfinished = await tx.query<{ id: string; status: OperationStatus }>({
      text: `select id, status
        from dws.operation
        where tenant_id = $1 and work_id = $2 and finished_at is null
        order by id
        for update`,
      values: [tenantId, target?.workId],
    });
    const unfinishedTarget = unfinished.find((row) => row.id === id);
    if (!target || !unfinishedTarget) throw conflict('The operation has already ended');
    if (unfinishedTarget.status === 'running' && unfinished.length === 1)
      return requestCancellation(tx, tenantId, id, target.workId);
    recordCancelled(tx, tenantId, id);
    // Shared work ends with the last of its operations.
    if (unfinished.length === 1) await endCancelled(ctx.platform, tx, target);
    if (target.concurrencyKey) await sendNext(ctx.platform.queue, tx, tenantId, target.concurrencyKey);
  });
}

interface CancellableOperation extends EndingOperation, Record<string, unknown> {
  operation: OperationName;
  concurrencyKey: string | null;
}

async function readCancellable(
  tx: Transaction,
  tenantId: string,
  id: string,
): Promise<CancellableOperation | undefined> {
  const [operation] = await tx.query<CancellableOperation>({
    text: `select work_id as "workId", tenant_id as "tenantId", user_id as "userId", operation,
        resource_id as "resourceId", input, started_at as "startedAt", concurrency_key as "concurrencyKey"
      from dws.operation
      where tenant_id = $1 and id = $2`,
    values: [tenantId, id],
  });
  return operation;
}

/** Signals the worker of a running operation to stop. The worker records the end. */
async function requestCancellation(tx: Transaction, tenantId: string, id: string, workId: string): Promise<void> {
  await tx.query({
    text: `update dws.operation
      set cancelled_at = coalesce(cancelled_at, now())
      where tenant_id = $1 and id = $2`,
    values: [tenantId, id],
  });
  tx.execute({ text: `select pg_notify('${CHANNELS.cancel}', $1)`, values: [workId] });
}

function recordCancelled(tx: Transaction, tenantId: string, id: string): void {
  tx.execute({
    text: `update dws.operation
      set status = 'cancelled', error = $3, cancelled_at = now(), finished_at = now(), updated_at = now(),
        sequence = sequence + 1
      where tenant_id = $1 and id = $2`,
    values: [tenantId, id, JSON.stringify(failureOf(cancelled()))],
  });
}

/**
 * Cancels the running operation with a concurrency key, of any user, because its resource is deleted. An operation that
 * waits for its next attempt ends immediately.
 */
export const cancelRunning = (tx: Transaction, tenantId: string, concurrencyKey: string): void =>
  tx.execute({
    text: `
      with stopped as (
        update dws.operation
        set cancelled_at = coalesce(cancelled_at, now())
        where tenant_id = $1 and concurrency_key = $2 and status = 'running' and finished_at is null
        returning work_id
      ), ended as (
        update dws.operation
        set status = 'cancelled', error = $3, cancelled_at = now(), finished_at = now(), updated_at = now(),
          sequence = sequence + 1
        where tenant_id = $1 and concurrency_key = $2 and status = 'queued' and next_attempt_at is not null
          and finished_at is null
      )
      select pg_notify('${CHANNELS.cancel}', work_id::text) from (select distinct work_id from stopped) works`,
    values: [tenantId, concurrencyKey, JSON.stringify(failureOf(cancelled()))],
  });
