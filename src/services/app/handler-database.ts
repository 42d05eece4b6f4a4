import { SqlFailure, type WorkspaceKey, type WorkspaceQuery } from '../../core/app-workspace.ts';
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

/** The host calls for the database of an app, in one run of a handler. */
export function databaseCalls(
  workspaces: Platform['workspaces'],
  key: WorkspaceKey,
): Record<'query' | 'begin' | 'commit' | 'rollBack', HostCall> {
  const open = new Map<number, OpenTransaction>();
  let last = 0;
  /** Transactions that are open or begin. */
  let count = 0;
  const maxWaitMs = () => (count > 0 ? MAX_NESTED_WAIT_MS : undefined);
  const found = (id: unknown): OpenTransaction => {
    const transaction = open.get(id as number);
    if (!transaction) throw new SqlFailure('25P01', 'The transaction has ended');
    return transaction;
  };
  const take = (id: unknown): OpenTransaction => {
    const transaction = found(id);
    open.delete(id as number);
    count -= 1;
    return transaction;
  };
  return {
    query: async (argument, signal) => {
      const { sql, params, transaction } = argument as Record<string, unknown>;
      const [text, values] = [String(sql), Array.isArray(params) ? (params as unknown[]) : []];
      if (typeof transaction === 'number') return found(transaction).query(text, values);
      return workspaces.query(key, text, values, signal, maxWaitMs());
    },
    begin: async (_, signal) => {
      if (count >= MAX_TRANSACTIONS)
        throw new SqlFailure('53300', `More than ${MAX_TRANSACTIONS} transactions at once`);
      const wait = maxWaitMs();
      count += 1;
      const transaction = await beginTransaction(workspaces, key, signal, wait).catch((error: unknown) => {
        count -= 1;
        throw error;
      });
      open.set(++last, transaction);
      return last;
    },
    commit: async (id) => {
      const { end, ended } = take(id);
      end();
      await ended;
    },
    rollBack: async (id) => {
      const { end, ended } = take(id);
      end(new RolledBack());
      await ended;
    },
  };
}

/** Begins a transaction, which ends with `end` or when the signal aborts. */
async function beginTransaction(
  workspaces: Platform['workspaces'],
  key: WorkspaceKey,
  signal: AbortSignal,
  maxWaitMs: number | undefined,
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
    .transaction(key, work, signal, maxWaitMs)
    .catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error;
    })
    .finally(() => signal.removeEventListener('abort', abort));
  ended.catch((error: unknown) => begun.reject(error as Error));
  const query = await begun.promise;
  return { query, end: (error) => (error ? end.reject(error) : end.resolve()), ended };
}
