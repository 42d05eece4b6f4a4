import { Extensions } from 'type-graphql';
import type { Viewer } from '../viewer.ts';
import type { Condition, AccessFilter } from './condition.ts';

/**
 * The type of a column in results: timestamps are ISO 8601 text in UTC with milliseconds, bigints and numbers are
 * JavaScript numbers, other types are as the driver of Postgres returns them.
 */
export type ColumnType = 'uuid' | 'text' | 'json' | 'timestamp' | 'integer' | 'bigint' | 'boolean' | 'number';

export interface ModelColumn {
  column: string;
  type: ColumnType;
  nullable: boolean;
  /** The expression of a computed column, over the row `p`. A computed column can only be selected. */
  sql?: string;
}

/**
 * Related rows of a row: at most one (`one`), or a list (`many`). `join` is a condition between the related row `r` and
 * the row `p` that has the relation; the condition of a `one` must match at most one row. `sort` is a sort like
 * `position,-createdAt`; `limit` is the number of rows without an argument of that name.
 */
export type Relation =
  | { kind: 'one'; model: () => Model; join: string }
  | { kind: 'many'; model: () => Model; join: string; sort: string; limit: number };

/** The alias of a row in a statement: `r` where rows are found, `p` where the columns of a page are selected. */
export type RowAlias = 'r' | 'p';

/** Returns the SQL that rows with an alias are sorted by. */
type SortExpression = (row: RowAlias) => string;

/** Returns the condition on the rows with an alias that a field orders for a viewer, or null if it orders all. */
type SortAccess = (viewer: Viewer, row: RowAlias) => Condition | null;

/** Returns the condition of a filter argument's value, or null if the value does not restrict the rows. */
export type ListFilter = (value: unknown, viewer: Viewer) => Condition | null;

/**
 * How the read path reads an entity: its table, the names of its columns and relations in GraphQL, and who may read
 * which rows.
 */
export interface Model {
  /** The GraphQL object type. */
  name: string;
  /** The name in error messages, e.g. `saved filter`. */
  label: string;
  /** Quoted, with its schema, or a subselect in brackets. */
  table: string;
  /** The column that every statement compares with the viewer's tenant. */
  tenantColumn: string;
  /** By GraphQL field. Secrets are left out, so no selection can contain them. */
  columns: Readonly<Record<string, ModelColumn>>;
  /** By GraphQL field. */
  relations: Readonly<Record<string, Relation>>;
  /**
   * The columns and relations that computed fields require, by GraphQL field, in addition to the ones of `@Requires`.
   */
  required: Readonly<Record<string, readonly string[]>>;
  /** Without one the viewer may read all rows of the tenant. */
  accessFilter?: AccessFilter;
  /**
   * Who may read which rows by their ids alone, in addition to `accessFilter`. For rows that are otherwise read through
   * another resource, or by a root field with a condition of its own.
   */
  nodeAccess?: AccessFilter;
  /** Fields that `q` searches. */
  searchedFields: readonly string[];
  /** The SQL of each field that a list may be sorted by, e.g. `{ name: (row) => `${row}."name"` }`. */
  sortable: Readonly<Record<string, SortExpression>>;
  /** For fields that not every reader may see: the rows that such a field orders. The other rows come last. */
  sortAccess?: Readonly<Record<string, SortAccess>>;
  defaultSort: string;
  /** By argument name. */
  filters: Readonly<Record<string, ListFilter>>;
  /** The field that identifies a row within its tenant in addition to its id: a slug or a username. */
  key?: { field: string; ignoreCase: boolean };
}

/** Maximum number of rows of a collection below a resource, and its usual default (docs/contract/apis.md#lists). */
export const MAX_CHILDREN = 1000;

/** Returns the relation to the row whose id is in a column of this row. */
export const toOne = (model: () => Model, column: string): Relation => ({
  kind: 'one',
  model,
  join: `r.id = p.${quoteIdentifier(column)}`,
});

/** Returns the relation to the rows whose column `foreign` contains the id of this row. */
export const toMany = (model: () => Model, foreign: string, sort: string, limit = MAX_CHILDREN): Relation => ({
  kind: 'many',
  model,
  join: `r.${quoteIdentifier(foreign)} = p.id`,
  sort,
  limit,
});

/** Returns a to-many relation of a model. */
export function listOf(parent: Model, name: string): Extract<Relation, { kind: 'many' }> {
  const relation = parent.relations[name];
  if (relation?.kind !== 'many') throw new Error(`${parent.name} has no list "${name}"`);
  return relation;
}

export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Declares the columns and relations that a computed field reads from its row, so that they are selected with it:
 * `@Requires('ownerId', 'owner.name')` above a `@FieldResolver`. The names are names of the model, dotted through
 * relations.
 */
export const Requires = (...fields: string[]) => Extensions({ requires: fields });
