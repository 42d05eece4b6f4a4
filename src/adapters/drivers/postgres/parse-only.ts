import type { Connection, FieldDef, Submittable } from 'pg';

/** The source's description of a statement that it has parsed and not run. */
export interface ParsedStatement {
  /** Types (OIDs) of `$1`, `$2`, …, as passed or as inferred. */
  parameterTypes: number[];
  /** Null when the statement returns no rows at all, as an UPDATE does. */
  fields: FieldDef[] | null;
}

/**
 * Parse and Describe of the extended protocol, without Bind and Execute. The server accepts only one statement in a
 * Parse message and lexes it to its end, so an accepted text has no open comment, literal or parenthesis.
 */
export class ParseOnly implements Submittable {
  readonly result: Promise<ParsedStatement>;
  readonly #text: string;
  readonly #types: number[];
  readonly #parsed: ParsedStatement = { parameterTypes: [], fields: null };
  #settle!: { resolve(parsed: ParsedStatement): void; reject(error: unknown): void };

  constructor(text: string, parameterTypes: number[]) {
    this.#text = text;
    this.#types = parameterTypes;
    this.result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  submit(connection: Connection): void {
    connection.once('parameterDescription', (message: { dataTypeIDs: number[] }) => {
      this.#parsed.parameterTypes = message.dataTypeIDs;
    });
    // The types of the package expect names of types; the protocol uses OIDs.
    connection.parse({ name: '', text: this.#text, types: this.#types as unknown as string[] }, true);
    connection.describe({ type: 'S', name: '' }, true);
    connection.sync();
  }

  handleRowDescription(message: { fields: FieldDef[] }): void {
    this.#parsed.fields = message.fields;
  }

  handleError(error: unknown, connection: Connection): void {
    connection.removeAllListeners('parameterDescription');
    this.#settle.reject(error);
  }

  handleReadyForQuery(): void {
    this.#settle.resolve(this.#parsed);
  }
}
