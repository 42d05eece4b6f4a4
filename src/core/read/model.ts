import { Extensions } from 'type-graphql';
import type { Viewer } from '../viewer.ts';
import type { Condition, AccessFilter } from './condition.ts';

/** How a column travels: timestamps as ISO 8601 text in UTC with milliseconds, bigints as numbers, everything else as Postgres' driver gives it. */
export type ColumnType = 'uuid' | 'text' | 'json' | 'timestamp' | 'integer' | 'bigint' | 'boolean' | 'number';

export interface Column {
  column: string;
  type: ColumnType;
  nullable: boolean;
  /** What computes it, over the row `p`; there is no such column in the table then, and it is only read. */
  sql?: string;
}

/**
 * Rows that belong to a row: one or none (`one`), or a list (`many`). `join` is a condition between `r`, the related row, and `p`, the row that has
 * the relation; a `one` must match at most one row. `order` is a sort like `position,-createdAt`; a list ends after `limit` rows.
 */
export type Relation =
  | { kind: 'one'; model: () => Model; join: string }
  | { kind: 'many'; model: () => Model; join: string; order: string; limit: number };

/** Makes the condition of a filter argument from its value; null when the value does not restrict. */
export type Filter = (value: unknown, viewer: Viewer) => Condition | null;

/** What the read path knows of a kind: its table, what of it GraphQL calls how, and who may read which rows. */
export interface Model {
  /** The GraphQL object type. */
  name: string;
  /** What errors call it, e.g. `saved filter`. */
  what: string;
  /** Quoted, with its schema. */
  table: string;
  /** The column every statement compares with the viewer's tenant. */
  tenant: string;
  /** By GraphQL field. Secrets are not among them, so no selection can reach them. */
  columns: Readonly<Record<string, Column>>;
  relations: Readonly<Record<string, Relation>>;
  /** What computed fields need, beside what `@Needs` says: GraphQL field to columns and relations. */
  required: Readonly<Record<string, readonly string[]>>;
  accessFilter?: AccessFilter;
  /** Fields that `q` searches. */
  text: readonly string[];
  /** What a list may be sorted by: the word of the client to SQL over `r`, e.g. `r."name"`. */
  sortable: Readonly<Record<string, string>>;
  /** Of a field that tells what not every reader may know: the rows that it orders. The others come last. */
  orders?: Readonly<Record<string, AccessFilter>>;
  /** The sort of a list when none is asked for. */
  order: string;
  /** By name of the argument. */
  filters: Readonly<Record<string, Filter>>;
  /** The field that names a row within its tenant: a slug or username. */
  key?: { field: string; foldCase: boolean };
}

/** How many rows a collection below a resource shows unless its `limit` says otherwise (contract 4). */
export const MAX_CHILDREN = 1000;

/** The row whose id a column of this row holds. */
export const toOne = (model: () => Model, column: string): Relation => ({
  kind: 'one',
  model,
  join: `r.id = p.${quoted(column)}`,
});

/** The rows whose column `foreign` holds this row's id. */
export const toMany = (model: () => Model, foreign: string, order: string, limit = MAX_CHILDREN): Relation => ({
  kind: 'many',
  model,
  join: `r.${quoted(foreign)} = p.id`,
  order,
  limit,
});

/** A quoted identifier. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Says which columns and relations a computed field reads from its row, so that they are selected with it: `@Needs('ownerId', 'owner.name')`
 * above a `@FieldResolver`. They are names of the model, dotted through relations.
 */
export const Requires = (...fields: string[]) => Extensions({ requires: fields });
