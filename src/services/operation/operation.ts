import type { Context } from '../../core/context.ts';
import { cancelled, conflict } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { CHANNELS, type OperationFailure, type OperationName, type OperationStatus } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import { discardUpload } from '../dataset/dataset-upload-cleanup.ts';
import { startNext, lockConcurrencyKey } from './operation-concurrency.ts';
import { progressAlias, readRecord, type OperationRecord } from './operation-record.ts';

export interface OperationRequest {
  operation: OperationName;
  resource: { kind: string; id: string };
  /** What the handler needs; JSON. No secrets. */
  input: Record<string, unknown>;
  /** The caller's own name for it, unique among their unfinished ones. */
  progress?: string | number | null;
  /** Of the operations with one key, one runs at a time, in the order in which they were requested. */
  concurrencyKey?: string;
  /** Joins an operation with the same key and fingerprint that has not started yet. */
  fingerprint?: string;
  /** What `current` counts, e.g. `rows`. */
  unit?: string;
}

const CANCELLED: OperationFailure = { statusCode: 409, code: 'CANCELLED', message: cancelled().message };

/** Starts an operation in the transaction of the change that asks for it. Answers its id, to be waited for after the commit. */
export async function start(
  { viewer, platform }: Pick<Context, 'viewer' | 'platform'>,
  tx: Transaction,
  request: OperationRequest,
): Promise<string> {
  const id = newId();
  const alias = progressAlias(request.progress);
  if (request.concurrencyKey) await lockConcurrencyKey(tx, request.concurrencyKey);
  const joined =
    request.concurrencyKey && request.fingerprint
      ? await findWaiting(tx, viewer.tenantId, request.concurrencyKey, request.fingerprint)
      : undefined;
  const workId = joined ?? id;
  const inserted = await tx.query({
    text: `insert into dws.operation (id, work_id, tenant_id, user_id, progress, operation, resource_kind, resource_id, input, status, unit, concurrency_key, fingerprint)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'queued', $10, $11, $12)
      on conflict (tenant_id, user_id, progress) where progress is not null and finished_at is null do nothing returning id`,
    values: [
      id,
      workId,
      viewer.tenantId,
      viewer.userId,
      alias,
      request.operation,
      request.resource.kind,
      request.resource.id,
      JSON.stringify(request.input),
      request.unit ?? null,
      request.concurrencyKey ?? null,
      request.fingerprint ?? null,
    ],
  });
  if (inserted.length === 0) throw conflict(`Your operation "${alias}" is still running`);
  if (!joined) await platform.queue.send({ workId, tenantId: viewer.tenantId }, tx);
  return id;
}

/** The work with this key and fingerprint that has not started yet. */
async function findWaiting(
  tx: Transaction,
  tenantId: string,
  concurrencyKey: string,
  fingerprint: string,
): Promise<string | undefined> {
  const [waiting] = await tx.query<{ workId: string }>({
    text: `select work_id as "workId" from dws.operation
      where tenant_id = $1 and concurrency_key = $2 and fingerprint = $3 and status = 'queued' and started_at is null and finished_at is null order by work_id desc limit 1`,
    values: [tenantId, concurrencyKey, fingerprint],
  });
  return waiting?.workId;
}

/** An operation of the caller, by its id or the caller's name for it. */
export const get = (ctx: Context, idOrAlias: string): Promise<OperationRecord> =>
  readRecord(ctx.query, ctx.viewer, idOrAlias);

/**
 * Ends the caller's operation. What others wait for too goes on for them; what waits in the queue ends at once; what runs is told to stop, down to the
 * statement in the source, and ends when it did. One that ended already is 409. Answers the record.
 */
export async function cancel(ctx: Context, idOrAlias: string): Promise<OperationRecord> {
  const { id } = await get(ctx, idOrAlias);
  await ctx.transaction(async (tx) => {
    const values = [ctx.viewer.tenantId, id];
    const [own] = await tx.query<{
      workId: string;
      concurrencyKey: string | null;
      resourceId: string;
      upload: boolean;
    }>({
      text: `select work_id as "workId", concurrency_key as "concurrencyKey", resource_id as "resourceId", input->>'upload' is not null as upload from dws.operation where tenant_id = $1 and id = $2`,
      values,
    });
    if (own?.concurrencyKey) await lockConcurrencyKey(tx, own.concurrencyKey);
    const open = await tx.query<{ id: string; status: OperationStatus }>({
      text: `select id, status from dws.operation where tenant_id = $1 and work_id = $2 and finished_at is null order by id for update`,
      values: [ctx.viewer.tenantId, own?.workId],
    });
    const mine = open.find((row) => row.id === id);
    if (!mine) throw conflict('The operation has ended already');
    if (mine.status === 'running' && open.length === 1) {
      await tx.query({
        text: `update dws.operation set cancelled_at = coalesce(cancelled_at, now()) where tenant_id = $1 and id = $2`,
        values,
      });
      await tx.query({ text: `select pg_notify('${CHANNELS.cancel}', $1)`, values: [own!.workId] });
    } else {
      await tx.query({
        text: `update dws.operation set status = 'cancelled', error = $3, cancelled_at = now(), finished_at = now(), updated_at = now(), sequence = sequence + 1 where tenant_id = $1 and id = $2`,
        values: [...values, JSON.stringify(CANCELLED)],
      });
      if (own!.upload) await discardUpload(tx, ctx.viewer.tenantId, own!.resourceId);
      if (own!.concurrencyKey) await startNext(ctx.platform.queue, tx, ctx.viewer.tenantId, own!.concurrencyKey);
    }
  });
  return get(ctx, id);
}

/** Cancels what runs with a concurrency key, for any caller, because its resource is being deleted in this transaction. */
export async function stopRunning(tx: Transaction, tenantId: string, concurrencyKey: string): Promise<void> {
  const running = await tx.query<{ workId: string }>({
    text: `update dws.operation set cancelled_at = coalesce(cancelled_at, now()) where tenant_id = $1 and concurrency_key = $2 and status = 'running' and finished_at is null returning work_id as "workId"`,
    values: [tenantId, concurrencyKey],
  });
  for (const workId of new Set(running.map((row) => row.workId)))
    await tx.query({ text: `select pg_notify('${CHANNELS.cancel}', $1)`, values: [workId] });
}
