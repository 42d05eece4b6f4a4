/** A statement with bound values. Postgres prepares a statement with a `name` once per connection. */
export interface Statement {
  name?: string;
  text: string;
  values?: unknown[];
}

/** A row of a result. */
export type SqlRow = Record<string, unknown>;

/** Runs one statement and returns its rows. */
export type Query = <R extends SqlRow = SqlRow>(statement: Statement) => Promise<R[]>;
