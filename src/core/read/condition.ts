import type { Viewer } from '../viewer.ts';

/**
 * A where-clause with a `?` for each value, e.g. `{ sql: 'owner_id = any(?)', params: [principals] }`.
 *
 * - `r` is the alias of the row. Its columns may also stand bare; inside a subselect they always need the alias:
 *   `exists (select 1 from dws.share s where s.resource_id = r.id and s.principal = any(?))`.
 * - Values never go into the text: statements are cached and prepared by it, so it must be constant for its purpose.
 * - The text must not contain a `?` that is not a placeholder.
 */
export interface Condition {
  sql: string;
  params: readonly unknown[];
}

/**
 * Returns the condition on the rows of an entity that a viewer may read, or null if the viewer may read all of the
 * tenant.
 */
export type AccessFilter = (viewer: Viewer) => Condition | null;

/** Matches no row. */
export const NO_ROWS: Condition = { sql: 'false', params: [] };
