import type { Transaction } from './platform.ts';

/**
 * Transfers the belongings of an owner, which a feature keeps in its own tables, to another owner, in the transaction
 * that deletes the former one. `from` and `to` are principals. Features declare it in
 * src/services/assembly/user-belongings.ts.
 */
export type TransferBelongings = (tx: Transaction, tenantId: string, from: string, to: string) => void;
