import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { interruptible } from './interruptible.ts';
import { quotePath } from './generation-files.ts';

/** The one writing connection of a load: an instance of its own, whose files and temporary files lie in one folder. */
export class LoadStatements {
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  readonly #signal: AbortSignal;

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection, signal: AbortSignal) {
    this.#instance = instance;
    this.#connection = connection;
    this.#signal = signal;
  }

  /** @param memoryLimit DuckDB's notation, e.g. `256MB` */
  static async open(memoryLimit: string, temp: string, signal: AbortSignal): Promise<LoadStatements> {
    // One thread: a segment is too small to be shared, and a second one costs 70 % more CPU for nothing.
    const instance = await DuckDBInstance.create(':memory:', { memory_limit: memoryLimit, threads: '1', temp_directory: temp, autoinstall_known_extensions: 'false' });
    const connection = await instance.connect();
    await connection.run(`SET TimeZone = 'UTC'`);
    return new LoadStatements(instance, connection, signal);
  }

  /** Attaches a new file for writing. */
  async create(path: string, alias: string): Promise<void> {
    await this.#connection.run(`ATTACH ${quotePath(path)} AS ${alias} (${process.env.BS ? `BLOCK_SIZE ${process.env.BS}` : ''}${process.env.RG ? `${process.env.BS?', ':''}ROW_GROUP_SIZE ${process.env.RG}` : ''})`.replace(' ()', ''));
  }

  /** Writes everything of a file to the disk and lets go of it. */
  async finish(alias: string): Promise<void> {
    await this.change(`CHECKPOINT ${alias}`);
    await this.#connection.run(`DETACH ${alias}`);
  }

  /** Runs a statement; answers how many rows it changed. */
  async change(sql: string): Promise<number> {
    return (await interruptible(this.#connection, this.#signal, () => this.#connection.run(sql))).rowsChanged;
  }

  async rows(sql: string, values: DuckDBValue[] = []): Promise<DuckDBValue[][]> {
    return interruptible(this.#connection, this.#signal, async () => (await this.#connection.runAndReadAll(sql, values)).getRows());
  }

  async rollback(): Promise<void> {
    await this.#connection.run('ROLLBACK');
  }

  throwIfAborted(): void {
    this.#signal.throwIfAborted();
  }

  close(): void {
    this.#connection.closeSync();
    this.#instance.closeSync();
  }
}
