import { mkdir } from 'node:fs/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBResult, DuckDBValue } from '@duckdb/node-api';
import { ConcurrencyGate } from '../../../core/concurrency-gate.ts';
import { unavailable } from '../../../core/errors.ts';
import { Attachments } from './attachments.ts';
import { quotePath } from './generation-files.ts';
import { interruptible } from './interruptible.ts';

/** Each running query holds a thread of libuv's pool, which files and name look-ups need too. */
const RUNNING = 4;
const WAITING = 64;
const FULL = 'Too many queries are waiting for the index';

/** A bound statement's values and answer. */
export type Ask = (sql: string, values?: DuckDBValue[]) => Promise<DuckDBValue[][]>;

/** The names of attached files in statements. */
export type Aliases = string[];

/** One DuckDB instance that reads the files below one folder and nothing else, answering a bounded number of queries at a time. */
export class Serving {
  readonly #instance: DuckDBInstance;
  readonly #attachments: Attachments;
  readonly #queries = new ConcurrencyGate(RUNNING, WAITING, FULL);
  readonly #scans = new ConcurrencyGate(RUNNING, WAITING, FULL);
  readonly #idle: DuckDBConnection[] = [];
  readonly #writes = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  private constructor(instance: DuckDBInstance, admin: DuckDBConnection) {
    this.#instance = instance;
    this.#attachments = new Attachments(admin);
  }

  /** @param temp a folder for sorts that do not fit the memory */
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

  /** Statements on read-only files, with a place in the queue. */
  async query<T>(files: string[], signal: AbortSignal, work: (ask: Ask, aliases: Aliases) => Promise<T>): Promise<T> {
    await this.#queries.enter(signal);
    try {
      return await this.#on(files, (connection, aliases) =>
        interruptible(connection, signal, () =>
          work(async (sql, values) => (await connection.runAndReadAll(sql, values)).getRows(), aliases),
        ),
      );
    } catch (error) {
      throw explained(error);
    } finally {
      this.#queries.leave();
    }
  }

  /** An answer too long for memory, in chunks. Exports have places of their own, so that they keep no page waiting. */
  async *stream(
    files: string[],
    signal: AbortSignal,
    statement: (aliases: Aliases) => { sql: string; values: DuckDBValue[] },
  ): AsyncGenerator<DuckDBValue[][]> {
    await this.#scans.enter(signal);
    const release: (() => Promise<void>)[] = [];
    try {
      const aliases = await this.#attach(files, release);
      // A connection of its own: closing it is what ends an answer that nobody reads to its end.
      const connection = await this.#instance.connect();
      release.unshift(async () => connection.closeSync());
      const { sql, values } = statement(aliases);
      const result: DuckDBResult = await interruptible(connection, signal, () => connection.stream(sql, values));
      for (;;) {
        const chunk = await interruptible(connection, signal, () => result.fetchChunk());
        if (!chunk || chunk.rowCount === 0) return;
        yield chunk.getRows();
      }
    } catch (error) {
      throw explained(error);
    } finally {
      for (const free of release) await free();
      this.#scans.leave();
    }
  }

  /** Keeps files readable between queries, though they may be dropped meanwhile, until the answer is called. */
  async hold(files: string[]): Promise<() => Promise<void>> {
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

  /** Statements that read files and write one of their own below the folder. */
  async write<T>(files: string[], work: (connection: DuckDBConnection, aliases: Aliases) => Promise<T>): Promise<T> {
    const writing = this.#on(files, (connection, aliases) =>
      interruptible(connection, this.#closing.signal, () => work(connection, aliases)),
    );
    this.#writes.add(writing);
    try {
      return await writing;
    } finally {
      this.#writes.delete(writing);
    }
  }

  /** Lets go of the files below a folder. */
  async forget(folder: string): Promise<void> {
    await this.#attachments.forget(folder);
  }

  async ping(): Promise<void> {
    await this.#on([], (connection) => connection.run('SELECT 1')).catch((error: unknown) => {
      throw unavailable('The dataset index does not answer', { cause: error });
    });
  }

  /** Stops what is being written and lets go of everything. A process that ended meanwhile would hang: it waits for DuckDB, which waits for it to split words. */
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

  /** Attaches the files; what is to be undone is pushed to `release` as soon as it is owed. */
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
  error instanceof Error && error.message.startsWith('Out of Memory Error')
    ? unavailable('The question needs more memory than the index may use', { cause: error })
    : error;
