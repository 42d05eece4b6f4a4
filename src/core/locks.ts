import type { Transaction } from './platform.ts';

/**
 * Numbers of advisory locks of Postgres, which are the same in every process of the service. Each number has one
 * purpose, even in another database of the same cluster.
 */
export const LOCKS = {
  /** Migrations of the database. */
  migration: 4_711_001,
  /** Passes of the reconciler. */
  reconciler: 4_711_002,
  /** Privileges of the queue. */
  queueInstallation: 4_711_003,
  /** Roles, schemas and the database of apps. */
  appsDatabase: 4_711_004,
  /** Totals of usage with several parts. */
  usageMerge: 4_711_005,
  /** The demo shop; taken in the database `postgres`. */
  demoSource: 4_711_006,
  /** Measured sizes of stores. */
  storeSizes: 4_711_009,
} as const;

/**
 * Locks a key until the transaction ends. Other transactions wait for it before their next statement. Locks of operations are
 * taken in this order, so that no two transactions wait for each other:
 *
 * 1. concurrency keys of operations, several in the order of their texts
 * 2. rows: a resource before its runs, several of a kind in the order of their ids
 * 3. the starts of runs of all agents of an owner
 * 4. the starts of operations of a user
 * 5. the credits of a payer
 */
export const lockKey = (tx: Pick<Transaction, 'execute'>, key: string): void =>
  tx.execute({ text: `select pg_advisory_xact_lock(hashtextextended($1, 0))`, values: [key] });
