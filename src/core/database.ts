/** A statement with bound values. A text that is used again is prepared, so it must be constant for its purpose. */
export interface Statement {
  text: string;
  /** Whether the text depends on a caller's selection. Such texts do not displace others from being prepared. */
  isSelected?: boolean;
  values?: unknown[];
}

/** A row of a result. */
export type SqlRow = Record<string, unknown>;

/**
 * Another transaction was faster: it took the same value, or deleted a row to write. The database undoes the
 * transaction and runs it again.
 */
export class LostRace extends Error {
  constructor() {
    super('Another transaction was faster');
  }
}

/** Runs one statement and returns its rows. */
export type Query = <R extends SqlRow = SqlRow>(statement: Statement) => Promise<R[]>;
