import { LRUCache } from 'lru-cache';
import type { Viewer } from '../viewer.ts';

/**
 * Which rows: a where-clause with a `?` for each value, e.g. `{ sql: 'owner_id = any(?)', params: [principals] }`.
 * Columns stand bare or after `r`, the alias of the row; inside a subselect always after an alias
 * (`exists (select 1 from dws.share s where s.tenant_id = r.tenant_id and s.resource_id = r.id and s.principal = any(?))`).
 * The text must be constant for its purpose, since statements are prepared by it: values never go into it. It holds no `?` of its own.
 */
export interface Condition {
  sql: string;
  params: readonly unknown[];
}

/** The rows of a kind that a viewer may read; null for all of the tenant. */
export type AccessFilter = (viewer: Viewer) => Condition | null;

const NOTHING: Condition = { sql: 'false', params: [] };
export const nothing = (): Condition => NOTHING;

const numbers = new LRUCache<string, number>({ max: 5000 });
let latest = 0;

/** A short number for a text, the same for the same text, so that keys of caches stay short. */
export function numberOf(sql: string): number {
  const known = numbers.get(sql);
  if (known !== undefined) return known;
  numbers.set(sql, ++latest);
  return latest;
}

/** The clause with `$n` for its question marks, counted from `first`, in brackets. */
export const numbered = (condition: Condition, first: number): string => `(${placed(condition, first)})`;

/** The same without the brackets. */
export function placed({ sql, params }: Condition, first: number): string {
  let n = first;
  const text = sql.replace(/\?/g, () => `$${n++}`);
  if (n - first !== params.length)
    throw new Error(`A condition has ${n - first} question marks but ${params.length} values: ${sql}`);
  return text;
}
