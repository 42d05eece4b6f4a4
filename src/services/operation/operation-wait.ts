import type { Context } from '../../core/context.ts';
import { cancelled, ApiError, type ErrorCode } from '../../core/errors.ts';
import { isFinal, type OperationFailure } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import { followOperation } from './operation-events.ts';
import type { OperationRecord } from './operation-record.ts';
import { get } from './operation.ts';

/**
 * Waits for an operation of the caller and returns its finished record. Throws the operation's failure with its own
 * status, code and message, unless it has a result, or CANCELLED. A caller who disconnects stops waiting; the operation
 * continues. `onChange` gets every state.
 */
export async function wait(
  { platform, viewer, request }: Pick<Context, 'platform' | 'viewer' | 'request'>,
  id: string,
  onChange?: (record: OperationRecord) => void,
): Promise<OperationRecord> {
  let last: OperationRecord | undefined;
  for await (const record of followOperation(platform, viewer, id, request.signal)) {
    last = record;
    onChange?.(record);
  }
  if (!last || !isFinal(last.status)) throw request.signal.reason;
  if (last.status === 'cancelled') throw cancelled();
  if (last.status === 'failed' && last.result === null) throw toError(last.error!);
  return last;
}

const toError = ({ statusCode, code, message, validation }: OperationFailure): ApiError =>
  new ApiError(statusCode, code as ErrorCode, message, validation && { validation });

/** Starts an operation in a transaction of its own; `start` returns its id. Returns its record, finished if `waits`. */
export async function startInTransaction(
  ctx: Context,
  waits: boolean,
  start: (tx: Transaction) => Promise<string>,
): Promise<OperationRecord> {
  const id = await ctx.transaction(start);
  return waits ? wait(ctx, id) : get(ctx, id);
}
