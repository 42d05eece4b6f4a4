import pg from 'pg';
import utils from 'pg/lib/utils.js';
import type { SqlRow } from '../../core/database.ts';

type Parse = (text: string) => unknown;
/** The columns of a prepared statement's rows. */
interface RowShape {
  names: string[];
  parsers: Parse[];
}

/**
 * The part of pg's connection that this query uses. pg supports custom queries, such as pg-cursor and pg-query-stream.
 */
interface PgConnection {
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
  stream: { cork(): void; uncork(): void };
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: unknown[] }): void;
  describe(message: { type: 'P' }): void;
  execute(message: object): void;
  sync(): void;
  sendCopyFail(reason: string): void;
}

/**
 * By connection and name of a prepared statement. Postgres refuses to run a statement whose columns have changed since.
 */
const shapes = new WeakMap<PgConnection, Map<string, RowShape>>();

/**
 * A prepared statement that requests the description of its rows once a connection. pg requests it with every run,
 * which is a tenth of the time of reading one row.
 */
class PreparedQuery<R extends SqlRow> {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /**
   * Called when the connection is ready for the next statement, or this one has failed. pg wraps its timeout around it.
   */
  callback: (error: Error | null) => void;
  readonly rows: R[] = [];
  #connection: PgConnection | undefined;
  #shape: RowShape | undefined;
  #failure: Error | undefined;

  constructor(name: string, text: string, values: readonly unknown[], callback: (error: Error | null) => void) {
    this.name = name;
    this.text = text;
    this.values = values;
    this.callback = callback;
  }

  /** Sends all messages of one run at once. If it returns an error, nothing was sent. */
  submit(connection: PgConnection): Error | null {
    const known = connection.parsedStatements[this.name] ?? connection.submittedNamedStatements[this.name];
    if (known !== undefined && known !== this.text)
      return new Error(`The name ${this.name} is already the name of another statement`);
    let values: unknown[];
    try {
      values = this.values.map((value) => utils.prepareValue(value));
    } catch (error) {
      return error as Error;
    }
    this.#connection = connection;
    this.#shape = known === undefined ? undefined : shapes.get(connection)?.get(this.name);
    connection.stream.cork();
    if (known === undefined) {
      connection.parse({ name: this.name, text: this.text });
      connection.submittedNamedStatements[this.name] = this.text;
    }
    connection.bind({ statement: this.name, values });
    if (!this.#shape) connection.describe({ type: 'P' });
    connection.execute({});
    connection.sync();
    connection.stream.uncork();
    return null;
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#shape = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => pg.types.getTypeParser(dataTypeID, 'text') as Parse),
    };
    const known = shapes.get(this.#connection!) ?? new Map<string, RowShape>();
    shapes.set(this.#connection!, known.set(this.name, this.#shape));
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (this.#failure) return;
    const { names, parsers } = this.#shape!;
    const row: Record<string, unknown> = {};
    try {
      for (let i = 0; i < fields.length; i++) row[names[i]!] = fields[i] === null ? null : parsers[i]!(fields[i]!);
      this.rows.push(row as R);
    } catch (error) {
      this.#failure = error as Error;
    }
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure ?? null);
  }

  handleError(error: Error): void {
    this.callback(this.#failure ?? error);
  }

  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyData(): void {}
  handleCopyInResponse(connection: PgConnection): void {
    connection.sendCopyFail('No source stream defined');
  }
}

/** Runs a statement. A named one is prepared. */
export async function runStatement<R extends SqlRow>(
  client: pg.PoolClient,
  { name, text, values = [] }: { name?: string; text: string; values?: unknown[] },
): Promise<R[]> {
  if (!name) return (await client.query<R>({ text, values })).rows;
  return new Promise((done, failed) => {
    const query = new PreparedQuery<R>(name, text, values, (error) => (error ? failed(error) : done(query.rows)));
    client.query(query as unknown as pg.Submittable);
  });
}
