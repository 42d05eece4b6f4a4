import { badInput, type ApiError } from '../errors.ts';
import { isUuid } from '../id.ts';
import type { Viewer } from '../viewer.ts';
import { nothing, type Condition } from './condition.ts';
import { quoted, type Model } from './model.ts';

/** What a client may say of a list (contract 4); the model's filters are read from the same object. */
export interface ListArguments {
  /** 1 to 1000. */
  limit?: number | null;
  /** From 0. */
  start?: number | null;
  /** Fields, separated by commas; `-` before one descends. */
  sort?: string | null;
  /** Text that must occur in one of the model's text fields, ignoring case. */
  q?: string | null;
}

/** Values that fields must have; a list means any of them, null a missing value. */
export type FieldValues = Readonly<Record<string, string | number | boolean | null | readonly (string | number)[]>>;

export const DEFAULT_LIMIT = 30;
const MAX_LIMIT = 1000;
/** Postgres counts rows in 64 bits, clients in 31. */
const LAST_START = 2 ** 31 - 1;

const MAX_SORT_CHARACTERS = 500;

const wrong = (argument: string, message: string): ApiError =>
  badInput(message, { validation: [{ path: [argument], message, code: 'invalid' }] });

export function limitOf(limit: number | null | undefined, otherwise: number, most = MAX_LIMIT): number {
  if (limit == null) return otherwise;
  if (!Number.isInteger(limit) || limit < 1 || limit > most)
    throw wrong('limit', `limit must be a whole number from 1 to ${most}`);
  return limit;
}

export function startOf(start: number | null | undefined): number {
  if (start == null) return 0;
  if (!Number.isInteger(start) || start < 0 || start > LAST_START)
    throw wrong('start', 'start must be a whole number from 0');
  return start;
}

/**
 * The order of a sort like `name,-createdAt`, as SQL over `r` with a `?` for each value. It is total: ties are broken by id, in the last field's direction, so
 * that an index on the sorted columns and the id serves both directions. Without a viewer it is a sort of the service's own, which may name any column.
 */
export function orderOf(model: Model, sort: string, viewer: Viewer | null): Condition {
  if (sort.length > MAX_SORT_CHARACTERS)
    throw wrong('sort', `sort must have at most ${MAX_SORT_CHARACTERS} characters`);
  const seen = new Set<string>();
  const parts: string[] = [];
  const params: unknown[] = [];
  let direction = '';
  for (const word of sort.split(',').map((part) => part.trim())) {
    const field = word.replace(/^-/, '');
    const column = viewer ? undefined : model.columns[field]?.column;
    const sql = Object.hasOwn(model.sortable, field) ? model.sortable[field] : column && `r.${quoted(column)}`;
    if (!sql) throw wrong('sort', `Cannot sort by "${field}"; known are ${Object.keys(model.sortable).join(', ')}`);
    if (seen.has(field)) continue;
    seen.add(field);
    direction = word.startsWith('-') ? ' desc' : '';
    const rule = viewer && model.orders?.[field]?.(viewer);
    params.push(...(rule?.params ?? []));
    parts.push(rule ? `case when ${rule.sql} then ${sql} end${direction} nulls last` : `${sql}${direction}`);
  }
  if (!seen.has('id')) parts.push(`r.id${direction}`);
  return { sql: parts.join(', '), params };
}

/** The conditions of `q` and of the model's filters. */
export function filtersOf(model: Model, args: ListArguments, viewer: Viewer): Condition[] {
  const conditions: Condition[] = [];
  const given = args as Readonly<Record<string, unknown>>;
  for (const name in model.filters) {
    const value = given[name];
    const condition = value == null ? null : model.filters[name]!(value, viewer);
    if (condition) conditions.push(condition);
  }
  if (args.q) conditions.push(searchOf(model, args.q));
  return conditions;
}

const searches = new WeakMap<Model, string>();

function searchOf(model: Model, q: string): Condition {
  if (q.includes('\0') || model.text.length === 0) return nothing();
  let sql = searches.get(model);
  if (!sql) {
    sql = model.text.map((field) => `r.${quoted(model.columns[field]!.column)} ilike ?`).join(' or ');
    searches.set(model, sql);
  }
  const pattern = patternOf(q);
  return { sql, params: model.text.map(() => pattern) };
}

/** The pattern of `ilike` for texts that hold these characters. */
export const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** The condition that a field has a value. Values that its column cannot hold match nothing. */
export function equals(model: Model, field: string, value: FieldValues[string]): Condition {
  const column = model.columns[field];
  if (!column || column.sql) throw new Error(`${model.name} has no column "${field}"`);
  const name = `r.${quoted(column.column)}`;
  if (value === null) return { sql: `${name} is null`, params: [] };
  if (Array.isArray(value))
    return { sql: `${name} = any(?)`, params: [value.filter((one) => canHold(column.type, one))] };
  return canHold(column.type, value) ? { sql: `${name} = ?`, params: [value] } : nothing();
}

function canHold(type: string, value: unknown): boolean {
  if (typeof value === 'string' && value.includes('\0')) return false;
  return type !== 'uuid' || (typeof value === 'string' && isUuid(value));
}

/** The condition that finds a row by its id, key (slug, username) or natural id `{tenant}:{key}` (contract 4). */
export function keyed(model: Model, id: string, viewer: Viewer): Condition {
  if (isUuid(id)) return { sql: 'r.id = ?', params: [id] };
  if (!model.key) return nothing();
  const word = id.startsWith(`${viewer.tenant}:`) ? id.slice(viewer.tenant.length + 1) : id;
  if (isUuid(word) || word.includes('\0')) return nothing();
  if (!model.key.foldCase) return equals(model, model.key.field, word);
  return { sql: `lower(r.${quoted(model.columns[model.key.field]!.column)}) = lower(?)`, params: [word] };
}
