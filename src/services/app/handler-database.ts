import { SqlFailure, type StatementOptions, type WorkspaceKey, type WorkspaceQuery } from '../../core/app-workspace.ts';
import type { Platform } from '../../core/platform.ts';
import type { HostCall } from '../../core/sandbox.ts';

/**
 * Longest wait for a connection while the handler has an open transaction, in milliseconds. Handlers that have all
 * connections in their transactions, and wait for others, would wait for each other.
 */
const MAX_NESTED_WAIT_MS = 2000;
/** Transactions of one handler that are open at once. */
const MAX_TRANSACTIONS = 5;

interface OpenTransaction {
  query: WorkspaceQuery;
  /** Ends the work of the transaction, which is undone after an error. */
  end(error?: Error): void;
  /** Settles when the transaction has ended. */
  ended: Promise<void>;
}

/** Why a transaction is undone that the handler ends with an error. */
class RolledBack extends Error {}

/** The transactions of one run of a handler. */
class HandlerTransactions {
  readonly #begin: (signal: AbortSignal, maxWaitMs: number | undefined) => Promise<OpenTransaction>;
  readonly #open = new Map<number, OpenTransaction>();
  #last = 0;
  /** Transactions that are open or begin. */
  #count = 0;

  constructor(begin: (signal: AbortSignal, maxWaitMs: number | undefined) => Promise<OpenTransaction>) {
    this.#begin = begin;
  }

  /** Longest wait for a connection; undefined for the default. */
  get maxWaitMs(): number | undefined {
    return this.#count > 0 ? MAX_NESTED_WAIT_MS : undefined;
  }

  /** Begins a transaction. Returns its id. */
  async begin(signal: AbortSignal): Promise<number> {
    if (this.#count >= MAX_TRANSACTIONS)
      throw new SqlFailure('53300', `More than ${MAX_TRANSACTIONS} transactions at once`);
    const begun = this.#begin(signal, this.maxWaitMs);
    this.#count += 1;
    const transaction = await begun.catch((error: unknown) => {
      this.#count -= 1;
      throw error;
    });
    this.#open.set(++this.#last, transaction);
    return this.#last;
  }

  /** Returns an open transaction. */
  get(id: unknown): OpenTransaction {
    const transaction = this.#open.get(id as number);
    if (!transaction) throw new SqlFailure('25P01', 'The transaction has ended');
    return transaction;
  }

  /** Ends an open transaction, which is undone with an error. */
  async end(id: unknown, error?: Error): Promise<void> {
    const { end, ended } = this.get(id);
    this.#open.delete(id as number);
    this.#count -= 1;
    end(error);
    await ended;
  }
}

/**
 * The host calls for the database of an app, in one run of a handler. While `readOnlyReason` returns a reason, its
 * statements only read.
 */
export function databaseCalls(
  workspaces: Platform['workspaces'],
  key: WorkspaceKey,
  readOnlyReason: () => string | null,
): Record<'query' | 'begin' | 'commit' | 'rollBack', HostCall> {
  const transactions = new HandlerTransactions((signal, maxWaitMs) =>
    beginTransaction(workspaces, key, signal, { maxWaitMs, readOnlyReason }),
  );
  return {
    query: async (argument, signal) => {
      const { sql, params, transaction } = argument as Record<string, unknown>;
      const [text, values] = [String(sql), Array.isArray(params) ? (params as unknown[]) : []];
      if (typeof transaction === 'number') return transactions.get(transaction).query(text, values);
      return workspaces.query(key, text, values, signal, { maxWaitMs: transactions.maxWaitMs, readOnlyReason });
    },
    begin: async (_, signal) => transactions.begin(signal),
    commit: async (id) => transactions.end(id),
    rollBack: async (id) => transactions.end(id, new RolledBack()),
  };
}

/** Begins a transaction, which ends with `end` or when the signal aborts. */
async function beginTransaction(
  workspaces: Platform['workspaces'],
  key: WorkspaceKey,
  signal: AbortSignal,
  options: StatementOptions,
): Promise<OpenTransaction> {
  const begun = Promise.withResolvers<WorkspaceQuery>();
  const end = Promise.withResolvers<void>();
  const abort = () => end.reject(signal.reason as Error);
  end.promise.catch(() => {});
  signal.addEventListener('abort', abort, { once: true });
  const work = (query: WorkspaceQuery): Promise<void> => {
    begun.resolve(query);
    return end.promise;
  };
  const ended = workspaces
    .transaction(key, work, signal, options)
    .catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error;
    })
    .finally(() => signal.removeEventListener('abort', abort));
  ended.catch((error: unknown) => begun.reject(error as Error));
  const query = await begun.promise;
  return { query, end: (error) => (error ? end.reject(error) : end.resolve()), ended };
}
