import type pg from 'pg';
import { SqlFailure, STATEMENT_LIMITS, type WorkspaceRow } from '../../core/app-workspace.ts';
import { withTimeout } from '../../core/with-timeout.ts';
import type { MemoryWatch, WatchedConnection } from './memory-watch.ts';
import { ResultTooLarge, runStatement, type ResultLimits } from './statement.ts';
import { backendOf, destroyClient, isInTransaction } from './workspace-client.ts';

const RESET_TIMEOUT_MS = 5000;
const QUERY_CANCELED = '57014';

/** Ends the connection of a role in the server, whatever it does there. */
type Terminate = (role: string, backend: number) => Promise<void>;

/** The common services of a process's connections. */
export interface ConnectionServices {
  terminate: Terminate;
  memory: MemoryWatch;
}

/** A connection of a role while a task uses it. */
export class WorkspaceConnection implements WatchedConnection {
  readonly role: string;
  readonly client: pg.Client;
  readonly #services: ConnectionServices;
  /** Aborts with the error of a connection that uses too much memory. */
  readonly #excess = new AbortController();
  /** Set once the connection must not be used again: settles when it has ended in the server. */
  #ended: Promise<void> | undefined;

  constructor(role: string, client: pg.Client, services: ConnectionServices) {
    this.role = role;
    this.client = client;
    this.#services = services;
    services.memory.add(this);
    client.once('end', () => services.memory.remove(this));
  }

  get backend(): number {
    return backendOf(this.client);
  }

  end(reason: SqlFailure): void {
    this.#excess.abort(reason);
    this.#end();
  }

  get isInTransaction(): boolean {
    return isInTransaction(this.client);
  }

  /** Whether it can run further statements. */
  get isUsable(): boolean {
    return this.#ended === undefined;
  }

  /**
   * Runs one statement for at most `timeoutMs`. When the time is over or the signal aborts, the statement ends in the
   * server, and this throws `SqlFailure` or the signal's reason.
   */
  run(
    sql: string,
    params: readonly unknown[],
    signal: AbortSignal,
    limits: ResultLimits = STATEMENT_LIMITS,
    timeoutMs: number = STATEMENT_LIMITS.timeoutMs,
  ): Promise<WorkspaceRow[]> {
    return this.use(signal, timeoutMs, (client) => runStatement(client, sql, params, limits));
  }

  /** Runs the statements that `work` sends to the server, like `run`. */
  use<T>(signal: AbortSignal, timeoutMs: number, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const timeout = () => new SqlFailure(QUERY_CANCELED, `The statement took longer than ${timeoutMs} ms`);
    return this.#services.memory.during(() =>
      withTimeout(timeoutMs, timeout, [signal, this.#excess.signal], (stop) => this.#useUntil(stop, work)),
    );
  }

  async #useUntil<T>(stop: AbortSignal, work: (client: pg.Client) => Promise<T>): Promise<T> {
    stop.throwIfAborted();
    const end = () => this.#end();
    stop.addEventListener('abort', end, { once: true });
    try {
      return await work(this.client);
    } catch (error) {
      if (error instanceof ResultTooLarge || !(error instanceof SqlFailure)) this.#end();
      if (this.#ended) await this.#ended;
      throw stop.aborted ? stop.reason : error;
    } finally {
      stop.removeEventListener('abort', end);
    }
  }

  #end(): void {
    // A statement may catch its cancellation, but not the end of its connection.
    this.#ended ??= this.#services
      .terminate(this.role, this.backend)
      .catch(() => {})
      .finally(() => destroyClient(this.client));
  }

  /**
   * Removes everything that a task left behind: transaction, settings, locks, prepared statements, temporary tables,
   * listeners. Returns whether the connection can be used again; otherwise it is closed.
   */
  async reset(): Promise<boolean> {
    if (this.#ended) return false;
    const timer = setTimeout(() => destroyClient(this.client), RESET_TIMEOUT_MS);
    try {
      // Statements that the task did not wait for run first.
      await this.client.query('rollback');
      await this.client.query('discard all');
      return true;
    } catch {
      destroyClient(this.client);
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    if (!this.#ended) await this.client.end();
  }
}
