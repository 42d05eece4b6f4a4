import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBScalarFunction, DuckDBValue } from '@duckdb/node-api';
import { tableFileOptions } from '../../../core/table-file.ts';
import { exactJsonFunction } from './exact-json.ts';
import { quotePath } from './generation-files.ts';
import { interruptible } from './interruptible.ts';

/** A connection of a load to an instance of its own, whose files and temporary files are in one folder. */
export class LoadStatements {
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  readonly #signal: AbortSignal;
  #memory: number;

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection, signal: AbortSignal, memory: number) {
    this.#instance = instance;
    this.#connection = connection;
    this.#signal = signal;
    this.#memory = memory;
  }

  /** Opens the connection. `memory` is DuckDB's limit in bytes. Without a folder `temp` nothing is written to disk. */
  static async open(memory: number, temp: string, signal: AbortSignal): Promise<LoadStatements> {
    // One thread: a segment is too small to be divided, and a second thread costs 70 % more CPU without any gain.
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: `${memory}B`,
      threads: '1',
      temp_directory: temp,
      autoinstall_known_extensions: 'false',
    });
    const connection = await instance.connect();
    await connection.run(`SET TimeZone = 'UTC'`);
    connection.registerScalarFunction(exactJsonFunction());
    return new LoadStatements(instance, connection, signal, memory);
  }

  /** Attaches a new file for a table with this number of columns and about this many bytes a row. */
  async create(path: string, alias: string, columns: number, rowBytes: number): Promise<void> {
    await this.#connection.run(`ATTACH ${quotePath(path)} AS ${alias} (${tableFileOptions(columns, rowBytes)})`);
  }

  /** Attaches an existing file. */
  async attach(path: string, alias: string): Promise<void> {
    await this.#connection.run(`ATTACH ${quotePath(path)} AS ${alias}`);
  }

  /** Raises the memory limit for a statement that needs this many bytes. */
  async allow(bytes: number): Promise<void> {
    if (bytes <= this.#memory) return;
    await this.#connection.run(`SET memory_limit = '${bytes}B'`);
    this.#memory = bytes;
  }

  /** Writes a file completely to disk and detaches it. */
  async finish(alias: string): Promise<void> {
    await this.change(`CHECKPOINT ${alias}`);
    await this.#connection.run(`DETACH ${alias}`);
  }

  /** Runs a statement and returns the number of rows that it changed. */
  async change(sql: string): Promise<number> {
    return (await interruptible(this.#connection, this.#signal, () => this.#connection.run(sql))).rowsChanged;
  }

  async rows(sql: string, values: DuckDBValue[] = []): Promise<DuckDBValue[][]> {
    return interruptible(this.#connection, this.#signal, async () =>
      (await this.#connection.runAndReadAll(sql, values)).getRows(),
    );
  }

  /** Prepares a query with numbers as parameters. */
  async prepare(sql: string): Promise<(...values: number[]) => Promise<DuckDBValue[][]>> {
    const statement = await this.#connection.prepare(sql);
    return (...values) => {
      values.forEach((value, i) => statement.bindBigInt(i + 1, BigInt(value)));
      return interruptible(this.#connection, this.#signal, async () => (await statement.runAndReadAll()).getRows());
    };
  }

  /** Adds a function that statements can call. */
  register(scalar: DuckDBScalarFunction): void {
    this.#connection.registerScalarFunction(scalar);
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
