import {
  DuckDBInstance,
  type DuckDBConnection,
  type DuckDBDataChunk,
  type DuckDBPreparedStatement,
  type DuckDBValue,
} from '@duckdb/node-api';
import { ENGINE_MEMORY } from '../query-process/limits.ts';
import { fileError } from './file-error.ts';

const SPILL_BYTES = '4GiB';

export const quoteText = (text: string): string => `'${text.replaceAll(`'`, `''`)}'`;
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A DuckDB instance that reads one file. */
export class DuckdbSession {
  readonly connection: DuckDBConnection;

  readonly #instance: DuckDBInstance;

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#instance = instance;
    this.connection = connection;
  }

  /**
   * Opens a session. `paths` are the only files that it can access. `spill` is a folder for sorts that exceed the
   * memory; without it they fail.
   */
  static async open(paths: readonly string[], spill: string, threads = 2): Promise<DuckdbSession> {
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: `${ENGINE_MEMORY / 1024 ** 2}MiB`,
      threads: String(threads),
      temp_directory: spill,
      max_temp_directory_size: SPILL_BYTES,
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      allow_community_extensions: 'false',
      allow_unredacted_secrets: 'false',
    });
    const session = new DuckdbSession(instance, await instance.connect());
    // Counted without the memory of its texts: more would store hundreds of megabytes of long rows.
    await session.run(`set streaming_buffer_size = '32KiB'`);
    await session.run(`set global TimeZone = 'UTC'`);
    await session.run(`set allowed_paths = [${paths.map(quoteText).join(', ')}]`);
    await session.run('set enable_external_access = false');
    return session;
  }

  /** Locks the configuration. */
  async lock(): Promise<void> {
    await this.run('set lock_configuration = true');
  }

  /** Releases what the session has in memory. */
  close(): void {
    this.connection.closeSync();
    this.#instance.closeSync();
  }

  async run(sql: string, values: Record<string, DuckDBValue> = {}): Promise<void> {
    await attempt(() => this.connection.run(sql, values));
  }

  async rows(sql: string, values: Record<string, DuckDBValue> = {}): Promise<DuckDBValue[][]> {
    return attempt(async () => (await this.connection.runAndReadAll(sql, values)).getRows());
  }

  /**
   * Returns the rows of a statement with many expressions. DuckDB takes time by the square of their number to find those
   * that occur twice, so it does not look for them.
   */
  async rowsOfMany(sql: string): Promise<DuckDBValue[][]> {
    await this.run(`set disabled_optimizers = 'common_subexpressions'`);
    try {
      return await this.rows(sql);
    } finally {
      await this.run('reset disabled_optimizers');
    }
  }

  /** Prepares a statement. DuckDB already reads statistics of a file for it. */
  async prepare(sql: string): Promise<DuckDBPreparedStatement> {
    return attempt(() => this.connection.prepare(sql));
  }

  /** Yields a result that is too large for memory in chunks of a few thousand rows. */
  async *stream(sql: string, values: Record<string, DuckDBValue>): AsyncGenerator<DuckDBDataChunk> {
    const result = await attempt(() => this.connection.stream(sql, values));
    for (;;) {
      const chunk = await attempt(() => result.fetchChunk());
      if (!chunk || chunk.rowCount === 0) return;
      yield chunk;
    }
  }
}

/** Runs `work` and turns errors of DuckDB into BAD_USER_INPUT. */
export async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileError(error);
  }
}
