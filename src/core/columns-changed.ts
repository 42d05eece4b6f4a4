import type { Column } from './fields.ts';

/**
 * Thrown by `segments` when later rows contradict the provisional columns that the first rows had
 * (`RowSource.describe`).
 */
export class ColumnsChanged extends Error {
  /** The columns according to all rows. */
  readonly columns: Column[];

  constructor(columns: Column[]) {
    super('The rows do not have the types of the first rows');
    this.columns = columns;
  }
}

/** Calls `load` with provisional columns, and once more with the final ones when the rows contradict them. */
export async function withFinalColumns<T>(provisional: Column[], load: (columns: Column[]) => Promise<T>): Promise<T> {
  try {
    return await load(provisional);
  } catch (error) {
    if (!(error instanceof ColumnsChanged)) throw error;
    return load(error.columns);
  }
}
