import type { Condition } from './condition.ts';
import type { FieldValues, ListArguments } from './list-arguments.ts';
import type { SelectionInfo } from './look-ahead.ts';

/** The class of an entity. */
export type EntityType<T extends object = object> = abstract new (...args: never[]) => T;

/**
 * A row as the read path returns it: a plain object by GraphQL field names with the selected fields, always the `id`,
 * and the `version` of rows that are not read as a relation. Timestamps are ISO 8601 text. To-one relations are objects
 * or null, to-many relations arrays.
 */
export type ReadRow<T> = { [K in keyof T]: Date extends T[K] ? Exclude<T[K], Date> | string : T[K] };

/** A part of a list. */
export interface ReadPage<T> {
  items: ReadRow<T>[];
  start: number;
  count: number;
  /** Present if it was selected. */
  total?: number;
  /** Whether there are rows after the page. Present if it was selected. */
  hasNextPage?: boolean;
}

/** The selection: a resolver's `info`, or paths of columns and relations like `['name', 'owner.name']`. */
export type SelectionSource = SelectionInfo | readonly string[];

/** A condition of the service, in addition to the client's filters: values of fields, or SQL. */
export type RowCondition = FieldValues | Condition;

/** Identifies a row: its id, key or natural id, or values that only it has, e.g. `{ teamId, userId }`. */
export type RowKey = string | FieldValues;

/**
 * Reads rows of the viewer's tenant that the viewer may read, with at most one statement a call (docs/read-path.md).
 */
export interface Reader {
  /**
   * Present when the caller needs the length of the whole list from which `list` or `children` reads a part: they store
   * it here. GraphQL lists have no total, collections of REST do.
   */
  counted?: { total?: number };
  /** Returns a part of a list. The type of `info` has `items`. Throws BAD_USER_INPUT for arguments out of bounds. */
  page<T extends object>(
    type: EntityType<T>,
    args: ListArguments,
    source: SelectionSource,
    where?: RowCondition,
  ): Promise<ReadPage<T>>;
  /** Returns a list for a field that returns an array: up to `max` rows, 1000 by default, or fewer with `limit`. */
  list<T extends object>(
    type: EntityType<T>,
    source: SelectionSource,
    where?: RowCondition,
    args?: ListArguments,
    max?: number,
  ): Promise<ReadRow<T>[]>;
  /** Returns one row. Throws NOT_FOUND, naming the entity, without a row that the viewer may read. */
  one<T extends object>(
    type: EntityType<T>,
    key: RowKey,
    source: SelectionSource,
    where?: RowCondition,
  ): Promise<ReadRow<T>>;
  /** Returns one row, or null without a row that the viewer may read. */
  find<T extends object>(
    type: EntityType<T>,
    key: RowKey,
    source: SelectionSource,
    where?: RowCondition,
  ): Promise<ReadRow<T> | null>;
  /** Returns the row that a mutation of the viewer has just written, even if the viewer may no longer read it. */
  readAfterWrite<T extends object>(type: EntityType<T>, id: string, source: SelectionSource): Promise<ReadRow<T>>;
  /**
   * Returns the rows of ids, in their order, with null for a row that the viewer may not read by its id alone
   * (`nodeAccess`). Calls of one tick with equal selections share a statement.
   */
  many<T extends object>(
    type: EntityType<T>,
    ids: readonly string[],
    source: SelectionSource,
  ): Promise<(ReadRow<T> | null)[]>;
  /**
   * Returns a to-many relation of a row: its joined rows if look-ahead selected them, else by one statement for all
   * parents of the tick.
   */
  children<T extends object>(
    parent: EntityType,
    relation: string,
    row: { id: string },
    source: SelectionSource,
    args?: ListArguments,
    where?: RowCondition,
  ): Promise<ReadRow<T>[]>;
  /** Returns a page of a to-many relation of a row, by one statement for all parents of the tick. */
  childPage<T extends object>(
    parent: EntityType,
    relation: string,
    row: { id: string },
    source: SelectionSource,
    args?: ListArguments,
    where?: RowCondition,
  ): Promise<ReadPage<T>>;
}
