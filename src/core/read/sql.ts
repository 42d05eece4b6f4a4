import { numbered, type Condition } from './condition.ts';
import { orderOf } from './list-arguments.ts';
import { quoted, type Column, type Model } from './model.ts';
import type { Selection } from './selection.ts';

/** Where the values of a statement are: `$1` is the tenant, everything else has its number here. */
export interface Places {
  /** The conditions on the rows themselves, with their numbers. */
  conditions: readonly string[];
  /** The rights of the models below, with their numbers; null where the viewer may read all. */
  rights: ReadonlyMap<Model, string | null>;
}

/** The rows a select is made from. */
interface Source {
  conditions: readonly string[];
  /** Over `r`. */
  order?: string;
  /** What follows the order, e.g. `limit 30`. */
  part?: string;
}

const ISO = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

function columnOf({ column, type, sql }: Column): string {
  if (sql) return sql;
  const name = `p.${quoted(column)}`;
  // Text of our own form saves parsing to Dates and printing them again: 2 us a value in node, 0.5 us in Postgres.
  if (type === 'timestamp') return `to_char(${name} at time zone 'UTC', ${ISO})`;
  return type === 'number' ? `${name}::float8` : name;
}

/**
 * A select of what the selection names. The rows are picked first and alone, so that conditions may use bare columns and relations are read only for
 * the rows of the page; `r` is the row there, `p` in the rest. `row_to_json` of an unmatched left join is null.
 */
export function selectText(
  selection: Selection,
  source: Source,
  rights: Places['rights'],
  more: readonly string[] = [],
): string {
  const { model } = selection;
  const list = selection.columns.map((field) => `${columnOf(model.columns[field]!)} as ${quoted(field)}`);
  const joins: string[] = [];
  for (const [name, below] of selection.relations) {
    const relation = model.relations[name]!;
    const conditions = [`(${relation.join})`, ...ruleOf(below.model, rights)];
    if (relation.kind === 'one') {
      const alias = `_${joins.length}`;
      joins.push(` left join lateral (${selectText(below, { conditions }, rights)}) ${alias} on true`);
      list.push(`row_to_json(${alias}) as ${quoted(name)}`);
    } else {
      const rows = selectText(
        below,
        { conditions, order: orderOf(below.model, relation.order, null).sql, part: `limit ${relation.limit}` },
        rights,
      );
      list.push(`${arrayOf(rows)} as ${quoted(name)}`);
    }
  }
  return `select ${[...list, ...more].join(', ')} from (${rowsText(model, source)}) p${joins.join('')}${source.order ? ` order by ${outside(source.order)}` : ''}`;
}

/** The rows as one JSON array, in their order. */
export const arrayOf = (select: string): string => `(select coalesce(json_agg(_rows), '[]') from (${select}) _rows)`;

/** How many rows the conditions leave. */
export const countText = (model: Model, conditions: readonly string[]): string =>
  `(select count(*)::int from ${model.table} r where ${whereOf(model, conditions)})`;

/** The rights of a model below, when it has any. */
function ruleOf(model: Model, rights: Places['rights']): string[] {
  const rule = rights.get(model);
  return rule ? [rule] : [];
}

function rowsText(model: Model, { conditions, order, part }: Source): string {
  return `select * from ${model.table} r where ${whereOf(model, conditions)}${order ? ` order by ${order}` : ''}${part ? ` ${part}` : ''}`;
}

const whereOf = (model: Model, conditions: readonly string[]): string =>
  [`r.${quoted(model.tenant)} = $1`, ...conditions].join(' and ');

/** The order once more, where the rows are called `p`. */
const outside = (order: string): string => order.replace(/\br\./g, 'p.');

/** Numbers the conditions of a statement, in the order in which their values are bound after the tenant. */
export function placesOf(
  conditions: readonly Condition[],
  ruled: readonly Model[],
  rules: readonly (Condition | null)[],
): Places & { next: number } {
  let next = 2;
  const place = (condition: Condition): string => {
    const text = numbered(condition, next);
    next += condition.params.length;
    return text;
  };
  const own = conditions.map(place);
  const rights = new Map(ruled.map((model, i) => [model, rules[i] ? place(rules[i]) : null] as const));
  return { conditions: own, rights, next };
}
