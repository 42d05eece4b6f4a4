/** A statement with bound values; a `name` makes Postgres prepare it once per connection. */
export interface Statement {
  name?: string;
  text: string;
  values?: unknown[];
}

/** A row as Postgres answers it. */
export type SqlRow = Record<string, unknown>;

/** Runs one statement. */
export type Query = <R extends SqlRow = SqlRow>(statement: Statement) => Promise<R[]>;
