import pg from 'pg';
import utils from 'pg/lib/utils.js';
import type { SqlRow } from '../../core/database.ts';

type Parse = (text: string) => unknown;
interface Shape {
  names: string[];
  parsers: Parse[];
}

/** What pg lets a query of somebody else's making speak through, as pg-cursor and pg-query-stream do; only what is used here. */
interface Wire {
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

/** What each connection was told about the rows of its prepared statements. Postgres itself refuses a statement whose rows have changed since. */
const shapes = new WeakMap<Wire, Map<string, Shape>>();

/** A prepared statement that asks for the description of its rows once a connection and not, as pg does, with every run: that is a tenth of reading one row. */
export class PreparedQuery<R extends SqlRow> {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** Called when the connection is ready for the next statement, or this one failed. pg puts its timeout around it. */
  callback: (error: Error | null) => void;
  readonly rows: R[] = [];
  #wire: Wire | undefined;
  #shape: Shape | undefined;
  #failure: Error | undefined;

  constructor(name: string, text: string, values: readonly unknown[], callback: (error: Error | null) => void) {
    this.name = name;
    this.text = text;
    this.values = values;
    this.callback = callback;
  }

  /** Sends all messages of one run at once. An error that it answers has sent nothing. */
  submit(wire: Wire): Error | null {
    const known = wire.parsedStatements[this.name] ?? wire.submittedNamedStatements[this.name];
    if (known !== undefined && known !== this.text)
      return new Error(`The name ${this.name} stands for another statement`);
    let values: unknown[];
    try {
      values = this.values.map((value) => utils.prepareValue(value));
    } catch (error) {
      return error as Error;
    }
    this.#wire = wire;
    this.#shape = known === undefined ? undefined : shapes.get(wire)?.get(this.name);
    wire.stream.cork();
    if (known === undefined) {
      wire.parse({ name: this.name, text: this.text });
      wire.submittedNamedStatements[this.name] = this.text;
    }
    wire.bind({ statement: this.name, values });
    if (!this.#shape) wire.describe({ type: 'P' });
    wire.execute({});
    wire.sync();
    wire.stream.uncork();
    return null;
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#shape = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => pg.types.getTypeParser(dataTypeID, 'text') as Parse),
    };
    const known = shapes.get(this.#wire!) ?? new Map<string, Shape>();
    shapes.set(this.#wire!, known.set(this.name, this.#shape));
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
  handleCopyInResponse(wire: Wire): void {
    wire.sendCopyFail('No source stream defined');
  }
}

/** Runs a statement; a named one is prepared. */
export async function run<R extends SqlRow>(
  client: pg.PoolClient,
  { name, text, values = [] }: { name?: string; text: string; values?: unknown[] },
): Promise<R[]> {
  if (!name) return (await client.query<R>({ text, values })).rows;
  return new Promise((done, failed) => {
    const query = new PreparedQuery<R>(name, text, values, (error) => (error ? failed(error) : done(query.rows)));
    client.query(query as unknown as pg.Submittable);
  });
}
