import type { Transaction } from '../../core/platform.ts';

/** Locks a key until the transaction ends. Other transactions wait for it before their next statement. */
export const lockKey = (tx: Pick<Transaction, 'execute'>, key: string): void =>
  tx.execute({ text: `select pg_advisory_xact_lock(hashtextextended($1, 0))`, values: [key] });
