import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Statement } from '../database.ts';
import type { Viewer } from '../viewer.ts';
import { numberOf, placed, type Condition } from './condition.ts';
import { equals, filtersOf, keyed, orderOf, type FieldValues, type ListArguments } from './list-arguments.ts';
import type { Model } from './model.ts';
import type { Selection } from './selection.ts';
import { arrayOf, countText, placesOf, selectText, type Places } from './sql.ts';

/** The text of a statement, kept by what it depends on. It gets a name, and so is prepared, from its second use on. */
interface Shape {
  text: string;
  name?: string;
  isUsed: boolean;
}

const shapes = new LRUCache<string, Shape>({ max: 2000 });

/** Every connection keeps what was prepared on it for ever, so the names of a process's life are bounded; the rest runs unprepared. */
const MAX_NAMES = 1000;
const names = new Set<string>();

type Build = (places: Places & { next: number }) => string;

/** Binds the values and finds or builds the text. `subject` and the conditions' texts must say all that `build` looks at; `ruled` are the models below. */
function statement(
  subject: string,
  ruled: readonly Model[],
  conditions: readonly Condition[],
  viewer: Viewer,
  extra: readonly unknown[],
  build: Build,
): Statement {
  let key = subject;
  const values: unknown[] = [viewer.tenantId];
  for (const { sql, params } of conditions) {
    key += ` ${numberOf(sql)}`;
    values.push(...params);
  }
  const rules = ruled.map(({ accessFilter: rights }) => rights!(viewer));
  for (const rule of rules) {
    key += rule ? ` r${numberOf(rule.sql)}` : ' r';
    if (rule) values.push(...rule.params);
  }
  values.push(...extra);

  let shape = shapes.get(key);
  if (!shape) shapes.set(key, (shape = { text: build(placesOf(conditions, ruled, rules)), isUsed: false }));
  else if (!shape.isUsed) takeName(shape);
  return { name: shape.name, text: shape.text, values };
}

function takeName(shape: Shape): void {
  shape.isUsed = true;
  const name = `r${createHash('sha256').update(shape.text).digest('hex').slice(0, 24)}`;
  if (!names.has(name) && names.size >= MAX_NAMES) return;
  names.add(name);
  shape.name = name;
}

/** The viewer's rights on the rows themselves, and what else must hold. */
function conditionsOf(model: Model, viewer: Viewer, where?: FieldValues | Condition): Condition[] {
  const rule = model.accessFilter?.(viewer);
  const conditions = rule ? [rule] : [];
  if (where) conditions.push(...(isCondition(where) ? [where] : valuesOf(model, where)));
  return conditions;
}

const valuesOf = (model: Model, values: FieldValues): Condition[] =>
  Object.keys(values).map((field) => equals(model, field, values[field]!));

const isCondition = (where: FieldValues | Condition): where is Condition =>
  typeof where.sql === 'string' && Array.isArray(where.params);

/** The column of a page's first row that holds the total: `@` keeps it apart from GraphQL's names. */
export const TOTAL = '@total';

/** Which part of which list. */
export interface List {
  args: ListArguments;
  /** Already checked. */
  limit: number;
  start: number;
  /** What every row must have, beside the client's filters. */
  where?: FieldValues | Condition;
}

const partKey = (limit: number, start: number, total: boolean, order: Condition): string =>
  `${limit} ${start > 0} ${total} ${numberOf(order.sql)}`;

/**
 * A part of a list in a total order. The total is a subselect of the same statement, computed once for all its rows: cheaper than a second statement,
 * and of the same moment.
 */
export function pageStatement(
  selection: Selection,
  viewer: Viewer,
  { args, limit, start, where }: List,
  total: boolean,
): Statement {
  const { model } = selection;
  const conditions = [...conditionsOf(model, viewer, where), ...filtersOf(model, args, viewer)];
  const sorted = args.sort ? orderOf(model, args.sort, viewer) : orderOf(model, model.order, null);
  // A limit that is not a literal makes Postgres plan for a tenth of the table.
  return statement(
    `page ${selection.id} ${partKey(limit, start, total, sorted)}`,
    selection.ruled,
    conditions,
    viewer,
    [...(start > 0 ? [start] : []), ...sorted.params],
    (places) => {
      const part = `limit ${limit}${start > 0 ? ` offset $${places.next}` : ''}`;
      const order = placed(sorted, places.next + (start > 0 ? 1 : 0));
      const more = total ? [`${countText(model, places.conditions)} as "${TOTAL}"`] : [];
      return selectText(selection, { conditions: places.conditions, order, part }, places.rights, more);
    },
  );
}

/** How many rows a list has: one row with the column `total`. */
export function countStatement(model: Model, viewer: Viewer, { args, where }: Pick<List, 'args' | 'where'>): Statement {
  const conditions = [...conditionsOf(model, viewer, where), ...filtersOf(model, args, viewer)];
  return statement(
    `count ${model.table}`,
    [],
    conditions,
    viewer,
    [],
    (places) => `select ${countText(model, places.conditions)} as total`,
  );
}

/** One row by id, key or natural id, or by values that only it has. */
export function oneStatement(
  selection: Selection,
  viewer: Viewer,
  key: string | FieldValues,
  where?: FieldValues | Condition,
): Statement {
  const { model } = selection;
  const own = typeof key === 'string' ? [keyed(model, key, viewer)] : valuesOf(model, key);
  const conditions = [...own, ...conditionsOf(model, viewer, where)];
  return statement(`one ${selection.id}`, selection.ruled, conditions, viewer, [], (places) =>
    selectText(selection, { conditions: places.conditions, part: 'limit 1' }, places.rights),
  );
}

/** The row that the viewer has just written, whoever may read it now. What is selected below it obeys the rights as ever. */
export function writtenStatement(selection: Selection, viewer: Viewer, id: string): Statement {
  return statement(
    `written ${selection.id}`,
    selection.ruled,
    [{ sql: 'r.id = ?', params: [id] }],
    viewer,
    [],
    (places) => selectText(selection, { conditions: places.conditions, part: 'limit 1' }, places.rights),
  );
}

/** The rows of some ids, in no order. */
export function manyStatement(selection: Selection, viewer: Viewer, ids: readonly string[]): Statement {
  const conditions = [{ sql: 'r.id = any(?)', params: [ids] }, ...conditionsOf(selection.model, viewer)];
  return statement(`many ${selection.id}`, selection.ruled, conditions, viewer, [], (places) =>
    selectText(selection, { conditions: places.conditions }, places.rights),
  );
}

/**
 * The rows of a to-many relation for several parents, which the caller has read already: rows `{parent, items, total?}`. `selection` is of the related
 * rows; each parent gets its own part of its list.
 */
export function childrenStatement(
  parent: Model,
  name: string,
  selection: Selection,
  viewer: Viewer,
  ids: readonly string[],
  { args, limit, start, where }: List,
  total: boolean,
): Statement {
  const { model } = selection;
  const relation = parent.relations[name];
  if (relation?.kind !== 'many') throw new Error(`${parent.name} has no list "${name}"`);
  const conditions = [...conditionsOf(model, viewer, where), ...filtersOf(model, args, viewer)];
  const sorted = args.sort ? orderOf(model, args.sort, viewer) : orderOf(model, relation.order, null);
  const subject = `children ${parent.table} ${name} ${selection.id} ${partKey(limit, start, total, sorted)}`;
  return statement(
    subject,
    selection.ruled,
    conditions,
    viewer,
    [ids, ...(start > 0 ? [start] : []), ...sorted.params],
    (places) => {
      const order = placed(sorted, places.next + (start > 0 ? 2 : 1));
      const own = [`(${relation.join})`, ...places.conditions];
      const part = `limit ${limit}${start > 0 ? ` offset $${places.next + 1}` : ''}`;
      const rows = selectText(selection, { conditions: own, order, part }, places.rights);
      const count = total ? `, ${countText(model, own)} as total` : '';
      return `select p.id as parent, ${arrayOf(rows)} as items${count} from ${parent.table} p where p."${parent.tenant}" = $1 and p.id = any($${places.next})`;
    },
  );
}
