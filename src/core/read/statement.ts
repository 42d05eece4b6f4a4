import type { Statement } from '../database.ts';
import type { Viewer } from '../viewer.ts';
import type { Condition } from './condition.ts';
import {
  checkLimit,
  checkStart,
  equalsCondition,
  filterConditions,
  keyCondition,
  modelOrder,
  sortOrder,
  type FieldValues,
  type ListArguments,
  type Order,
} from './list-arguments.ts';
import { listOf, type Model } from './model.ts';
import { countSql, jsonArray, selectSql, type RowSource } from './select-sql.ts';
import type { Selection } from './selection.ts';
import type { BoundCondition } from './sql-parameters.ts';
import { StatementBuilder } from './statement-builder.ts';

/** Column that contains the total in each row of a page. No GraphQL field can have this name. */
export const TOTAL = '@total';

/** A part of a list. */
export interface ListPart {
  args: ListArguments;
  /** Maximum number of rows, validated. */
  limit: number;
  /** Number of rows to skip, validated. */
  start: number;
  /** A condition on all rows, in addition to the client's filters. */
  where?: FieldValues | Condition;
}

/** Returns the part of a list that the arguments select. Throws BAD_USER_INPUT for an invalid `limit` or `start`. */
export const listPart = (
  args: ListArguments,
  where: ListPart['where'],
  defaultLimit: number,
  maxLimit?: number,
): ListPart => ({
  args,
  limit: checkLimit(args.limit, defaultLimit, maxLimit),
  start: checkStart(args.start),
  where,
});

/** Returns whether the arguments select a part of a list. */
export const isPart = ({ limit, start }: ListArguments): boolean => limit != null || start != null;

/**
 * Returns the statement of a part of a list, sorted without ties. With `total` each row contains the length of the
 * whole list as `TOTAL`: a subselect is cheaper than a second statement and sees the same snapshot.
 */
export function pageStatement(selection: Selection, viewer: Viewer, part: ListPart, total: boolean): Statement {
  const { model } = selection;
  const builder = new StatementBuilder(`page ${selection.id} ${partKey(part, total)}`, viewer);
  const conditions = bindAll(builder, listConditions(model, viewer, part));
  builder.bindAccess(selection.guardedModels);
  const rows = bindPart(builder, part, orderOfPart(model, model.defaultSort, part, viewer));
  return builder.build((scope) => {
    const texts = printAll(conditions);
    const extra = total ? [`${countSql(model, texts, scope)} as "${TOTAL}"`] : [];
    return selectSql(selection, rows(texts), scope, extra);
  });
}

/** Returns the statement of a list's length: one row with the column `total`. */
export function countStatement(model: Model, viewer: Viewer, part: Pick<ListPart, 'args' | 'where'>): Statement {
  const builder = new StatementBuilder(`count ${model.table}`, viewer);
  const conditions = bindAll(builder, listConditions(model, viewer, part));
  return builder.build((scope) => `select ${countSql(model, printAll(conditions), scope)} as total`);
}

/** Returns the statement of one row, found by its id, slug or natural id, or by the values of some fields. */
export function oneStatement(
  selection: Selection,
  viewer: Viewer,
  key: string | FieldValues,
  where?: FieldValues | Condition,
): Statement {
  const { model } = selection;
  const identity = typeof key === 'string' ? [keyCondition(model, key, viewer)] : valueConditions(model, key);
  const conditions = [...identity, ...baseConditions(model, viewer, where)];
  return selectStatement(`one ${selection.id}`, selection, viewer, conditions, 1);
}

/**
 * Returns the statement of a row that the viewer has just written. The access filter of the row itself does not apply,
 * but the access filters of its relations do.
 */
export function readAfterWriteStatement(selection: Selection, viewer: Viewer, id: string): Statement {
  return selectStatement(`written ${selection.id}`, selection, viewer, [{ sql: 'r.id = ?', params: [id] }], 1);
}

/** Returns the statement of the rows with the given ids that the viewer may read by their ids alone, in no order. */
export function manyStatement(selection: Selection, viewer: Viewer, ids: readonly string[]): Statement {
  const access = selection.model.nodeAccess?.(viewer) ?? undefined;
  const conditions = [{ sql: 'r.id = any(?)', params: [ids] }, ...baseConditions(selection.model, viewer, access)];
  return selectStatement(`many ${selection.id}`, selection, viewer, conditions);
}

/**
 * Returns the statement of a to-many relation for several parents: rows `{ parent, items, total? }`. Each parent has
 * its own part of its list. `selection` selects from the related rows. Access to the parents is not checked, because
 * the caller has already read them.
 */
export function childrenStatement(
  parent: Model,
  name: string,
  selection: Selection,
  viewer: Viewer,
  ids: readonly string[],
  part: ListPart,
  total: boolean,
): Statement {
  const { model } = selection;
  const relation = listOf(parent, name);
  const purpose = `children ${parent.table} ${name} ${selection.id} ${partKey(part, total)}`;
  const builder = new StatementBuilder(purpose, viewer);
  const conditions = bindAll(builder, listConditions(model, viewer, part));
  builder.bindAccess(selection.guardedModels);
  const parents = builder.bind(ids);
  const rows = bindPart(builder, part, orderOfPart(model, relation.sort, part, viewer));
  return builder.build((scope) => {
    const texts = [`(${relation.join})`, ...printAll(conditions)];
    const items = jsonArray(selectSql(selection, rows(texts), scope));
    const count = total ? `, ${countSql(model, texts, scope)} as total` : '';
    const where = `p."${parent.tenantColumn}" = ${scope.tenant} and p.id = any(${parents})`;
    return `select p.id as parent, ${items} as items${count} from ${parent.table} p where ${where}`;
  });
}

function selectStatement(
  purpose: string,
  selection: Selection,
  viewer: Viewer,
  conditions: readonly Condition[],
  limit?: number,
): Statement {
  const builder = new StatementBuilder(purpose, viewer);
  const bound = bindAll(builder, conditions);
  builder.bindAccess(selection.guardedModels);
  return builder.build((scope) => selectSql(selection, { conditions: printAll(bound), limit }, scope));
}

/** Returns a key that distinguishes the SQL texts of parts: the limit is a literal, and an offset of 0 is left out. */
const partKey = ({ limit, start }: ListPart, total: boolean): string => `${limit} ${start > 0} ${total}`;

const orderOfPart = (model: Model, sort: string, { args }: ListPart, viewer: Viewer): Order =>
  args.sort ? sortOrder(model, args.sort, viewer) : modelOrder(model, sort);

/**
 * Binds offset and order. Returns a function that prints the row source. The limit is a literal: with a parameter
 * Postgres plans for a tenth of the table.
 */
function bindPart(
  builder: StatementBuilder,
  { limit, start }: ListPart,
  order: Order,
): (conditions: readonly string[]) => RowSource {
  const offset = start > 0 ? builder.bind(start) : undefined;
  const bound = builder.bindCondition(order);
  return (conditions) => ({
    conditions,
    order: { sql: bound.text, pageSql: bound.print(order.pageSql) },
    limit,
    offset,
  });
}

const bindAll = (builder: StatementBuilder, conditions: readonly Condition[]): BoundCondition[] =>
  conditions.map((condition) => builder.bindCondition(condition));

const printAll = (conditions: readonly BoundCondition[]): string[] => conditions.map(({ text }) => `(${text})`);

/** Returns the access filter of the rows, the service's own condition, and the client's filters. */
const listConditions = (
  model: Model,
  viewer: Viewer,
  { args, where }: Pick<ListPart, 'args' | 'where'>,
): Condition[] => [...baseConditions(model, viewer, where), ...filterConditions(model, args, viewer)];

/** Returns the access filter of the rows and the service's own condition. */
function baseConditions(model: Model, viewer: Viewer, where?: FieldValues | Condition): Condition[] {
  const access = model.accessFilter?.(viewer);
  const conditions = access ? [access] : [];
  if (where) conditions.push(...(isCondition(where) ? [where] : valueConditions(model, where)));
  return conditions;
}

const valueConditions = (model: Model, values: FieldValues): Condition[] =>
  Object.keys(values).map((field) => equalsCondition(model, field, values[field]!));

const isCondition = (where: FieldValues | Condition): where is Condition =>
  typeof where.sql === 'string' && Array.isArray(where.params);
