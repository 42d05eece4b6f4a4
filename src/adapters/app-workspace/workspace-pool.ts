import { FairGate, threeQuartersOf, type Caller } from '../../core/fair-gate.ts';
import type { WorkspaceConnection } from './workspace-connection.ts';

/** Connections of one process, of all apps together. */
const MAX_CONNECTIONS = 20;
const MAX_WAITING = 200;
/** A connection that was not used for this time is closed. */
const IDLE_MS = 60_000;

/** How connections of a role begin. */
interface PoolOptions {
  open(role: string): Promise<WorkspaceConnection>;
}

interface IdleConnection {
  connection: WorkspaceConnection;
  timer: NodeJS.Timeout;
}

/** Connections of the roles of apps. Each is used by one task at a time, and keeps nothing of the one before. */
export class WorkspacePool {
  readonly #options: PoolOptions;
  readonly #gate = FairGate.shared({
    places: MAX_CONNECTIONS,
    maxPerTenant: threeQuartersOf(MAX_CONNECTIONS),
    // More than half, as one handler may have five transactions, and queries in addition.
    ofVisitor: threeQuartersOf,
    maxWaiting: MAX_WAITING,
    taskNoun: 'queries of apps',
  });
  /** The connection that was used last is the last. */
  #idle: IdleConnection[] = [];
  #inUse = 0;
  #isClosed = false;
  readonly #closing = new Set<Promise<void>>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Runs a task on a connection of a role. Waits for a place like `FairGate`. */
  use<T>(
    role: string,
    caller: Caller,
    signal: AbortSignal,
    task: (connection: WorkspaceConnection) => Promise<T>,
    maxWaitMs?: number,
  ): Promise<T> {
    const work = async () => {
      this.#inUse += 1;
      try {
        const connection = await this.#take(role);
        try {
          return await task(connection);
        } finally {
          if ((await connection.reset()) && !this.#isClosed) this.#add(connection);
          else this.#close(connection);
        }
      } finally {
        this.#inUse -= 1;
      }
    };
    return this.#gate.run(caller, signal, work, maxWaitMs);
  }

  async #take(role: string): Promise<WorkspaceConnection> {
    const found = this.#idle.findLast(({ connection }) => connection.role === role);
    if (found) {
      this.#forget(found.connection);
      return found.connection;
    }
    const unused = this.#idle.slice(0, Math.max(0, this.#idle.length + this.#inUse - MAX_CONNECTIONS));
    for (const { connection } of unused) this.#close(connection);
    const connection = await this.#options.open(role);
    connection.client.once('end', () => this.#forget(connection));
    return connection;
  }

  #add(connection: WorkspaceConnection): void {
    const timer = setTimeout(() => this.#close(connection), IDLE_MS).unref();
    this.#idle.push({ connection, timer });
  }

  /** Removes a connection from the idle ones. */
  #forget(connection: WorkspaceConnection): void {
    clearTimeout(this.#idle.find((one) => one.connection === connection)?.timer);
    this.#idle = this.#idle.filter((one) => one.connection !== connection);
  }

  #close(connection: WorkspaceConnection): void {
    this.#forget(connection);
    const closed = connection
      .close()
      .catch(() => {})
      .finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }

  /** Closes the idle connections of a role. */
  closeRole(role: string): void {
    for (const { connection } of this.#idle.filter((one) => one.connection.role === role)) this.#close(connection);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { connection } of this.#idle) this.#close(connection);
    await Promise.all(this.#closing);
  }
}
