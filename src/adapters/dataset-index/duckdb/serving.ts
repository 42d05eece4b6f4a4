import { mkdir } from 'node:fs/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBResult, DuckDBValue } from '@duckdb/node-api';
import { isDiskFull } from '../../../core/disk-full.ts';
import { unavailable } from '../../../core/errors.ts';
import { FairGate, type Caller } from '../../../core/fair-gate.ts';
import { Attachments } from './attachments.ts';
import { quotePath } from './generation-files.ts';
import { interruptible } from './interruptible.ts';

/** Concurrent queries. Each occupies a thread of libuv's pool, which files and name look-ups need too. */
const PLACES = 4;
const MAX_WAITING = 1000;

/** Runs a statement with bound values and returns its rows. */
export type RunStatement = (sql: string, values?: DuckDBValue[]) => Promise<DuckDBValue[][]>;

/** Names of attached files in statements. */
export type Aliases = string[];

/** The files that a query reads, and the user whose place it occupies. */
interface QueryScope {
  files: string[];
  caller: Caller;
}

/**
 * One DuckDB instance that reads the files below one folder and nothing else, and runs a bounded number of queries at
 * a time.
 */
export class Serving {
  readonly #instance: DuckDBInstance;
  readonly #attachments: Attachments;
  readonly #queries = FairGate.shared({ places: PLACES, maxWaiting: MAX_WAITING, taskNoun: 'queries of the index' });
  readonly #scans = FairGate.shared({ places: PLACES, maxWaiting: MAX_WAITING, taskNoun: 'exports' });
  readonly #idle: DuckDBConnection[] = [];
  readonly #writes = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  private constructor(instance: DuckDBInstance, admin: DuckDBConnection) {
    this.#instance = instance;
    this.#attachments = new Attachments(admin);
  }

  /** Opens the instance. `temp` is a folder for sorts that exceed the memory. */
  static async open(dir: string, settings: { memoryLimit: string; threads: number; temp: string }): Promise<Serving> {
    await mkdir(dir, { recursive: true });
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: settings.memoryLimit,
      threads: String(settings.threads),
      temp_directory: settings.temp,
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    const admin = await instance.connect();
    await admin.run(`SET GLOBAL TimeZone = 'UTC'`);
    await admin.run(`SET allowed_directories = [${quotePath(`${dir}/`)}]`);
    await admin.run('SET enable_external_access = false');
    await admin.run('SET lock_configuration = true');
    return new Serving(instance, admin);
  }

  /** Runs statements on read-only files, after waiting for a place. */
  async query<T>(
    { files, caller }: QueryScope,
    signal: AbortSignal,
    work: (ask: RunStatement, aliases: Aliases) => Promise<T>,
  ): Promise<T> {
    const leave = await this.#queries.enter(caller, signal);
    try {
      return await this.#on(files, (connection, aliases) =>
        interruptible(connection, signal, () =>
          work(async (sql, values) => (await connection.runAndReadAll(sql, values)).getRows(), aliases),
        ),
      );
    } catch (error) {
      throw explained(error);
    } finally {
      leave();
    }
  }

  /**
   * Yields a result that is too large for memory in chunks. Exports have places of their own, so that no page waits
   * for them.
   */
  async *stream(
    { files, caller }: QueryScope,
    signal: AbortSignal,
    statement: (aliases: Aliases) => { sql: string; values: DuckDBValue[] },
  ): AsyncGenerator<DuckDBValue[][]> {
    const leave = await this.#scans.enter(caller, signal);
    const release: (() => Promise<void>)[] = [];
    let isSuspended = false;
    const end = async () => {
      try {
        for (const free of release.splice(0)) await free();
      } finally {
        leave();
      }
    };
    // A consumer that neither continues nor returns must not occupy the place after its request.
    const abort = () => {
      if (isSuspended) void end();
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      const aliases = await this.#attach(files, release);
      // A connection of its own: closing it ends a result that is not read to its end.
      const connection = await this.#instance.connect();
      release.unshift(async () => connection.closeSync());
      const { sql, values } = statement(aliases);
      const result: DuckDBResult = await interruptible(connection, signal, () => connection.stream(sql, values));
      for (;;) {
        const chunk = await interruptible(connection, signal, () => result.fetchChunk());
        if (!chunk || chunk.rowCount === 0) return;
        isSuspended = true;
        yield chunk.getRows();
        isSuspended = false;
      }
    } catch (error) {
      throw explained(error);
    } finally {
      signal.removeEventListener('abort', abort);
      await end();
    }
  }

  /** Preserves files between queries, even if they are dropped in between, until the returned function is called. */
  async pinFiles(files: string[]): Promise<() => Promise<void>> {
    const release: (() => Promise<void>)[] = [];
    const free = async () => {
      for (const one of release) await one();
    };
    await this.#attach(files, release).catch(async (error: unknown) => {
      await free();
      throw error;
    });
    return free;
  }

  /** Runs statements that read files and write one of their own below the folder. */
  async write<T>(
    files: string[],
    signal: AbortSignal,
    work: (connection: DuckDBConnection, aliases: Aliases) => Promise<T>,
  ): Promise<T> {
    const writing = this.#on(files, (connection, aliases) =>
      interruptible(connection, AbortSignal.any([signal, this.#closing.signal]), () => work(connection, aliases)),
    );
    this.#writes.add(writing);
    try {
      return await writing;
    } finally {
      this.#writes.delete(writing);
    }
  }

  /** Detaches the files below a folder. */
  async forget(folder: string): Promise<void> {
    await this.#attachments.forget(folder);
  }

  async ping(): Promise<void> {
    await this.#on([], (connection) => connection.run('SELECT 1')).catch((error: unknown) => {
      throw unavailable('The dataset index does not respond', { cause: error });
    });
  }

  /**
   * Interrupts writes and closes everything. Without it the exit of the process would hang: it waits for DuckDB, which
   * waits for the process to split words.
   */
  async close(): Promise<void> {
    this.#closing.abort(unavailable('The dataset index is being closed'));
    await Promise.allSettled(this.#writes);
    for (const connection of this.#idle) connection.closeSync();
    this.#instance.closeSync();
  }

  async #on<T>(files: string[], work: (connection: DuckDBConnection, aliases: Aliases) => Promise<T>): Promise<T> {
    const release: (() => Promise<void>)[] = [];
    try {
      const aliases = await this.#attach(files, release);
      const connection = this.#idle.pop() ?? (await this.#instance.connect());
      release.unshift(async () => {
        this.#idle.push(connection);
      });
      return await work(connection, aliases);
    } finally {
      for (const free of release) await free();
    }
  }

  /** Attaches files. Each release function is added to `release` as soon as it is needed. */
  async #attach(files: string[], release: (() => Promise<void>)[]): Promise<Aliases> {
    const aliases: Aliases = [];
    for (const file of files) {
      release.push(() => this.#attachments.release(file));
      aliases.push(await this.#attachments.acquire(file));
    }
    return aliases;
  }
}

const explained = (error: unknown): unknown =>
  error instanceof Error && error.message.startsWith('Out of Memory Error') && !isDiskFull(error)
    ? unavailable('The question needs more memory than the index may use', { cause: error })
    : error;
