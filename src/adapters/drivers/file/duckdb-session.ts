import { DuckDBInstance, type DuckDBConnection, type DuckDBDataChunk, type DuckDBValue } from '@duckdb/node-api';
import { ENGINE_MEMORY } from '../query-process/limits.ts';
import { complaint } from './file-complaint.ts';

const SPILL_BYTES = '4GiB';

export const quoteText = (text: string): string => `'${text.replaceAll(`'`, `''`)}'`;
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** One DuckDB that reads one file. */
export class DuckdbSession {
  readonly connection: DuckDBConnection;

  private constructor(connection: DuckDBConnection) {
    this.connection = connection;
  }

  /**
   * @param path the only file that can be read from now on
   * @param spill a folder for sorts that do not fit the memory; without it they fail
   */
  static async open(path: string, spill: string, threads = 2): Promise<DuckdbSession> {
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
    const session = new DuckdbSession(await instance.connect());
    // Counted without what its texts take: more would hold hundreds of megabytes of long rows.
    await session.run(`set streaming_buffer_size = '32KiB'`);
    await session.run(`set global TimeZone = 'UTC'`);
    await session.run(`set allowed_paths = [${quoteText(path)}]`);
    await session.run('set enable_external_access = false');
    return session;
  }

  /** No setting can be changed any more. */
  async lock(): Promise<void> {
    await this.run('set lock_configuration = true');
  }

  async run(sql: string): Promise<void> {
    await attempt(() => this.connection.run(sql));
  }

  async rows(sql: string, values: Record<string, DuckDBValue> = {}): Promise<DuckDBValue[][]> {
    return attempt(async () => (await this.connection.runAndReadAll(sql, values)).getRows());
  }

  /** An answer too long for memory, in chunks of a few thousand rows. */
  async *stream(sql: string, values: Record<string, DuckDBValue>): AsyncGenerator<DuckDBDataChunk> {
    const result = await attempt(() => this.connection.stream(sql, values));
    for (;;) {
      const chunk = await attempt(() => result.fetchChunk());
      if (!chunk || chunk.rowCount === 0) return;
      yield chunk;
    }
  }
}

/** What DuckDB complains of becomes `badInput`. */
export async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw complaint(error);
  }
}
