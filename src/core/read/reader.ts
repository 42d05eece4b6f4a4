import type { Condition } from './condition.ts';
import type { FieldValues, ListArguments } from './list-arguments.ts';
import type { Info } from './look-ahead.ts';

/** A stored type. */
export type EntityType<T extends object = object> = abstract new (...args: never[]) => T;

/**
 * What a read answers for a stored type: a plain object by GraphQL field names, holding what was selected, `id` always, and `version` where it was asked
 * for by itself. Timestamps are ISO 8601 text. To-one relations are objects or null, to-many relations arrays.
 */
export type Row<T> = { [K in keyof T]: Date extends T[K] ? Exclude<T[K], Date> | string : T[K] };

/** A part of a list. `total` is there when it was selected. */
export interface Page<T> {
  items: Row<T>[];
  start: number;
  count: number;
  total?: number;
}

/** A selection: a resolver's `info`, or paths of columns and relations like `['name', 'owner.name']`. */
export type Wanted = Info | readonly string[];

/** What rows must have beside what the client asks for: values of fields, or a condition. */
export type Where = FieldValues | Condition;

/** Which row: its id, key or natural id, or values that only it has, e.g. `{ teamId, userId }`. */
export type Key = string | FieldValues;

/** Reads rows under the viewer's rights in the viewer's tenant, with at most one statement a call (architecture, "Read path"). */
export interface Reader {
  /** A part of a list; `info`'s type has `items`. 400 for arguments out of bounds. */
  page<T extends object>(kind: EntityType<T>, args: ListArguments, wanted: Wanted, where?: Where): Promise<Page<T>>;
  /** A whole list, for fields that answer an array: `most` rows, 1000 by default, unless `limit` asks for fewer. */
  list<T extends object>(
    kind: EntityType<T>,
    wanted: Wanted,
    where?: Where,
    args?: ListArguments,
    most?: number,
  ): Promise<Row<T>[]>;
  /** One row. 404 naming the kind when there is none that the viewer may read. */
  one<T extends object>(kind: EntityType<T>, key: Key, wanted: Wanted, where?: Where): Promise<Row<T>>;
  /** The same, null when there is none. */
  find<T extends object>(kind: EntityType<T>, key: Key, wanted: Wanted, where?: Where): Promise<Row<T> | null>;
  /** The row that a mutation of the viewer has just written, by its id: who gave something away is still told what became of it. */
  readAfterWrite<T extends object>(kind: EntityType<T>, id: string, wanted: Wanted): Promise<Row<T>>;
  /** The rows of ids, in their order, null where there is none. Calls of one tick with the same selection share a statement. */
  many<T extends object>(kind: EntityType<T>, ids: readonly string[], wanted: Wanted): Promise<(Row<T> | null)[]>;
  /** A to-many relation of a row that was read: what look-ahead brought along, otherwise one statement for all parents of the tick. */
  children<T extends object>(
    parent: EntityType,
    relation: string,
    row: { id: string },
    wanted: Wanted,
    args?: ListArguments,
    where?: Where,
  ): Promise<Row<T>[]>;
  /** The same as a page. */
  childPage<T extends object>(
    parent: EntityType,
    relation: string,
    row: { id: string },
    wanted: Wanted,
    args?: ListArguments,
    where?: Where,
  ): Promise<Page<T>>;
}
