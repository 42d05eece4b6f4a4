import { LRUCache } from 'lru-cache';
import { badInput, type ApiError } from '../errors.ts';
import { isUuid } from '../id.ts';
import { limitRule, SORT_RULE, START_RULE, violation, type InputRule } from '../input-rules.ts';
import type { Viewer } from '../viewer.ts';
import { NO_ROWS, type Condition } from './condition.ts';
import { quoteIdentifier, type Model, type RowAlias } from './model.ts';

/** The arguments of a list (docs/contract/apis.md#lists). The model's filters are read from the same object. */
export interface ListArguments {
  /** 1 to 1000. */
  limit?: number | null;
  /** Number of rows to skip. */
  start?: number | null;
  /** Fields, separated by commas; `-` before a field sorts it in descending order. */
  sort?: string | null;
  /** Text that one of the model's searched fields must contain, ignoring case. */
  q?: string | null;
}

/** Required values of fields. A list means any of its values, null a missing value. */
export type FieldValues = Readonly<Record<string, string | number | boolean | null | readonly (string | number)[]>>;

export const DEFAULT_LIMIT = 30;
const MAX_LIMIT = 1000;

const invalidArgument = (argument: string, message: string): ApiError =>
  badInput(message, { validation: [{ path: [argument], message, code: 'invalid' }] });

function checkArgument(argument: string, rule: InputRule, value: unknown): void {
  const problem = violation(rule, value);
  if (problem !== undefined) throw invalidArgument(argument, `${argument} ${problem}`);
}

/** Returns the limit, or the default without one. Throws BAD_USER_INPUT if it is out of bounds. */
export function checkLimit(limit: number | null | undefined, defaultLimit: number, max = MAX_LIMIT): number {
  if (limit == null) return defaultLimit;
  checkArgument('limit', limitRule(defaultLimit, max), limit);
  return limit;
}

/** Returns the number of rows to skip, 0 by default. Throws BAD_USER_INPUT if it is out of bounds. */
export function checkStart(start: number | null | undefined): number {
  if (start == null) return 0;
  checkArgument('start', START_RULE, start);
  return start;
}

/** An `order by` list with a `?` for each value, over the rows `r` and over the rows `p` of a page. */
export interface Order extends Condition {
  pageSql: string;
}

/**
 * Returns the order of a client's sort like `name,-createdAt`. The order is total: ties are broken by id in the
 * direction of the last field, so that an index on the sorted columns and the id serves both directions. A field with a
 * `sortAccess` orders only the rows that it allows. Throws BAD_USER_INPUT for a field that is not sortable.
 */
export function sortOrder(model: Model, sort: string, viewer: Viewer): Order {
  checkArgument('sort', SORT_RULE, sort);
  // The rows that a `sortAccess` allows depend on the viewer.
  return model.sortAccess ? createOrder(model, sort, viewer) : cachedOrder(clientOrders, model, sort, viewer);
}

/** Returns the order of a sort that a model declares. It may name any column. */
export const modelOrder = (model: Model, sort: string): Order => cachedOrder(modelOrders, model, sort, null);

type OrderCache = WeakMap<Model, LRUCache<string, Order>>;

/** Clients may sort by sortable fields only, so an order for a model's own sort must not be found for a client's. */
const [clientOrders, modelOrders]: [OrderCache, OrderCache] = [new WeakMap(), new WeakMap()];
const MAX_ORDERS_PER_MODEL = 100;

function cachedOrder(cache: OrderCache, model: Model, sort: string, viewer: Viewer | null): Order {
  let orders = cache.get(model);
  if (!orders) cache.set(model, (orders = new LRUCache({ max: MAX_ORDERS_PER_MODEL })));
  let order = orders.get(sort);
  if (!order) orders.set(sort, (order = createOrder(model, sort, viewer)));
  return order;
}

function createOrder(model: Model, sort: string, viewer: Viewer | null): Order {
  const { sql, params } = orderOver('r', model, sort, viewer);
  return { sql, params, pageSql: orderOver('p', model, sort, viewer).sql };
}

function orderOver(row: RowAlias, model: Model, sort: string, viewer: Viewer | null): Condition {
  const sorted = new Set<string>();
  const parts: string[] = [];
  const params: unknown[] = [];
  let direction = '';
  for (const part of sort.split(',')) {
    const term = part.trim();
    const isDescending = term.startsWith('-');
    const field = isDescending ? term.slice(1) : term;
    const sql = sortExpression(row, model, field, viewer);
    if (sorted.has(field)) continue;
    sorted.add(field);
    direction = isDescending ? ' desc' : '';
    const access = viewer && model.sortAccess?.[field]?.(viewer, row);
    if (access) params.push(...access.params);
    parts.push(access ? `case when ${access.sql} then ${sql} end${direction} nulls last` : `${sql}${direction}`);
  }
  if (!sorted.has('id')) parts.push(`${row}.id${direction}`);
  return { sql: parts.join(', '), params };
}

function sortExpression(row: RowAlias, model: Model, field: string, viewer: Viewer | null): string {
  if (Object.hasOwn(model.sortable, field)) return model.sortable[field]!(row);
  const column = viewer ? undefined : model.columns[field]?.column;
  if (column) return `${row}.${quoteIdentifier(column)}`;
  throw invalidArgument(
    'sort',
    `Cannot sort by ${JSON.stringify(field)}; known are ${Object.keys(model.sortable).join(', ')}`,
  );
}

/** Returns the conditions of `q` and of the model's filters. */
export function filterConditions(model: Model, args: ListArguments, viewer: Viewer): Condition[] {
  const conditions: Condition[] = [];
  const values = args as Readonly<Record<string, unknown>>;
  for (const name in model.filters) {
    const value = values[name];
    const condition = value == null ? null : model.filters[name]!(value, viewer);
    if (condition) conditions.push(condition);
  }
  if (args.q) conditions.push(searchCondition(model, args.q));
  return conditions;
}

const searchSqlOf = new WeakMap<Model, string>();

function searchCondition(model: Model, q: string): Condition {
  if (q.includes('\0') || model.searchedFields.length === 0) return NO_ROWS;
  let sql = searchSqlOf.get(model);
  if (!sql) {
    const columns = model.searchedFields.map((field) => quoteIdentifier(model.columns[field]!.column));
    sql = columns.map((column) => `r.${column} ilike ?`).join(' or ');
    searchSqlOf.set(model, sql);
  }
  const pattern = containsPattern(q);
  return { sql, params: model.searchedFields.map(() => pattern) };
}

/** Returns the pattern of `like` and `ilike` for texts that contain the given text literally. */
export const containsPattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** Returns the condition that a field has a value. A value that the column's type cannot represent matches no row. */
export function equalsCondition(
  model: Pick<Model, 'name' | 'columns'>,
  field: string,
  value: FieldValues[string],
): Condition {
  const column = model.columns[field];
  if (!column || column.sql) throw new Error(`${model.name} has no column "${field}"`);
  const name = `r.${quoteIdentifier(column.column)}`;
  if (value === null) return { sql: `${name} is null`, params: [] };
  if (Array.isArray(value))
    return { sql: `${name} = any(?)`, params: [value.filter((one) => isRepresentable(column.type, one))] };
  return isRepresentable(column.type, value) ? { sql: `${name} = ?`, params: [value] } : NO_ROWS;
}

function isRepresentable(type: string, value: unknown): boolean {
  if (typeof value === 'string' && value.includes('\0')) return false;
  return type !== 'uuid' || (typeof value === 'string' && isUuid(value));
}

/**
 * Returns the condition that finds a row by its id, key (slug or username) or natural id `{tenant}:{key}`
 * (docs/contract/apis.md#identifiers).
 */
export function keyCondition(model: Model, id: string, viewer: Viewer): Condition {
  if (isUuid(id)) return { sql: 'r.id = ?', params: [id] };
  if (!model.key) return NO_ROWS;
  const key = id.startsWith(`${viewer.tenant}:`) ? id.slice(viewer.tenant.length + 1) : id;
  if (isUuid(key) || key.includes('\0')) return NO_ROWS;
  if (!model.key.ignoreCase) return equalsCondition(model, model.key.field, key);
  const column = quoteIdentifier(model.columns[model.key.field]!.column);
  return { sql: `lower(r.${column}) = lower(?)`, params: [key] };
}
