import type { HandlerTask } from '../../core/app-run.ts';
import {
  SqlFailure,
  type StatementOptions,
  type WorkspaceKey,
  type WorkspaceQuery,
  type WorkspaceRow,
} from '../../core/app-workspace.ts';
import { beforeReceiving, hasReceived, keepingIssue, readOnlyReason } from '../../core/authority.ts';
import type { Platform } from '../../core/platform.ts';
import type { HostCall } from '../../core/sandbox.ts';
import { withCurrentRights } from './handler-rights.ts';

/**
 * Longest wait for a connection while the handler has an open transaction, in milliseconds. Handlers that have all
 * connections in their transactions, and wait for others, would wait for each other.
 */
const MAX_NESTED_WAIT_MS = 2000;
/** Maximum number of transactions of one handler that are open at the same time. */
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

/** The part of a run's task that the database needs. */
type DatabaseTask = Pick<HandlerTask, 'ctx' | 'authority'>;

/** The use of the database in one run of a handler, which ends before the run reads what the app may not keep. */
class HandlerDatabase {
  readonly #workspaces: Platform['workspaces'];
  readonly #key: WorkspaceKey;
  readonly #task: DatabaseTask;
  readonly #open = new Map<number, OpenTransaction>();
  readonly #running = new Set<Promise<unknown>>();
  #last = 0;
  /** Transactions that are open or begin. */
  #count = 0;

  constructor(workspaces: Platform['workspaces'], key: WorkspaceKey, task: DatabaseTask) {
    this.#workspaces = workspaces;
    this.#key = key;
    this.#task = task;
    beforeReceiving(task.authority, () => this.#close());
  }

  /** Runs a statement, in an open transaction if one is named. */
  query(sql: string, params: unknown[], transaction: unknown, signal: AbortSignal): Promise<WorkspaceRow[]> {
    return this.#run(async () => {
      if (typeof transaction === 'number') return this.#get(transaction).query(sql, params);
      return this.#workspaces.query(this.#key, sql, params, signal, this.#options());
    });
  }

  /** Begins a transaction. Returns its id. */
  begin(signal: AbortSignal): Promise<number> {
    return this.#run(async () => {
      if (this.#count >= MAX_TRANSACTIONS)
        throw new SqlFailure('53300', `More than ${MAX_TRANSACTIONS} open transactions`);
      const begun = beginTransaction(this.#workspaces, this.#key, signal, this.#options());
      this.#count += 1;
      const transaction = await begun.catch((error: unknown) => {
        this.#count -= 1;
        throw error;
      });
      this.#open.set(++this.#last, transaction);
      return this.#last;
    });
  }

  /** Ends an open transaction, which is undone with an error. */
  end(id: unknown, error?: Error): Promise<void> {
    return this.#run(() => this.#end(id, error));
  }

  async #end(id: unknown, error?: Error): Promise<void> {
    const { end, ended } = this.#get(id);
    this.#open.delete(id as number);
    this.#count -= 1;
    end(error);
    await ended;
  }

  /** Returns an open transaction. */
  #get(id: unknown): OpenTransaction {
    const transaction = this.#open.get(id as number);
    if (!transaction) throw new SqlFailure('25P01', 'The transaction has ended');
    return transaction;
  }

  #options(): StatementOptions {
    return {
      maxWaitMs: this.#count > 0 ? MAX_NESTED_WAIT_MS : undefined,
      readOnlyReason: () => readOnlyReason(this.#task.authority),
    };
  }

  /** Does something with the database, unless the run may not keep what it has read, or its caller can no longer act. */
  #run<T>(work: () => Promise<T>): Promise<T> {
    // Calls before a read cannot depend on its data: the read waits for them.
    const hasRead = hasReceived(this.#task.authority);
    const running = this.#checkUse(hasRead).then(work);
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  async #checkUse(hasRead: boolean): Promise<void> {
    const { authority } = await withCurrentRights(this.#task);
    const issue = hasRead ? keepingIssue(authority) : undefined;
    if (issue)
      throw new SqlFailure('42501', `${issue.message}. Without keep, a run uses its tables before it calls the API`);
  }

  /**
   * Waits for running statements, and undoes open transactions. Other runs see whether a transaction was committed, and
   * which statements run: both could depend on the data that was read.
   */
  async #close(): Promise<void> {
    // A statement may wait for a transaction that is undone, and a transaction may have begun during the wait.
    while (this.#running.size > 0 || this.#open.size > 0) {
      const undone = [...this.#open.keys()].map((id) => this.#end(id, new RolledBack()));
      await Promise.allSettled([...this.#running, ...undone]);
    }
  }
}

/**
 * The host calls for the database of an app, in one run of a handler. All are SQLSTATE 42501 once the run has read what
 * the app may not keep.
 */
export function databaseCalls(
  workspaces: Platform['workspaces'],
  key: WorkspaceKey,
  task: DatabaseTask,
): Record<'query' | 'begin' | 'commit' | 'rollBack', HostCall> {
  const database = new HandlerDatabase(workspaces, key, task);
  return {
    query: async (argument, signal) => {
      const { sql, params, transaction } = argument as Record<string, unknown>;
      return database.query(String(sql), Array.isArray(params) ? (params as unknown[]) : [], transaction, signal);
    },
    begin: async (_, signal) => database.begin(signal),
    commit: async (id) => database.end(id),
    rollBack: async (id) => database.end(id, new RolledBack()),
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
