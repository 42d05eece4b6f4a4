import type { OPERATION_NAMES, OperationInputs, OperationName } from './operations.ts';
import type { Platform, Transaction } from './platform.ts';

/** An operation that ends. */
export interface EndingOperation<N extends OperationName = OperationName> {
  workId: string;
  tenantId: string;
  userId: string;
  resourceId: string;
  input: OperationInputs[N];
  /** Null if it never ran. */
  startedAt: Date | null;
}

/** The end of one kind of operation: its effects besides the operation's record. */
export interface OperationEnd<N extends OperationName = OperationName> {
  /** Cleans up in the transaction that records the cancellation, whether the operation waited or ran. */
  cancelled(tx: Transaction, operation: EndingOperation<N>): Promise<void>;
}

/** The ends of all operations by their names; null for one that leaves nothing behind. */
export type OperationEnds = { readonly [N in (typeof OPERATION_NAMES)[number]]: OperationEnd<N> | null };

/** Cleans up the remains of a cancelled operation, in the transaction that records the cancellation. */
export async function endCancelled(
  { operationEnds }: Pick<Platform, 'operationEnds'>,
  tx: Transaction,
  operation: EndingOperation & { operation: OperationName },
): Promise<void> {
  await (operationEnds as Partial<Record<OperationName, OperationEnd>>)[operation.operation]?.cancelled(tx, operation);
}
