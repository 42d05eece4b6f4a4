import type { DuckDBValue } from '@duckdb/node-api';
import type { AggregateResult, Aggregation, IndexedField } from '../../../core/dataset-index.ts';
import { badInput } from '../../../core/errors.ts';
import type { FieldFormat, FieldType } from '../../../core/fields.ts';
import { type Interval, checkInterval } from '../intervals.ts';
import { printSums } from '../whole-sums.ts';
import { doubleOf, sortTerms, textKey } from './criteria-sql.ts';
import type { Scope } from './scope.ts';
import type { Serving } from './serving.ts';
import { quoteText } from './sql-values.ts';
import { jsonForm } from './value-forms.ts';

/** A column of the result. */
interface Output {
  name: string;
  type: FieldType;
  /** SQL over the rows. */
  value: string;
  /** Its column of the groups. */
  alias: string;
  /** SQL of the value's JSON form over the groups. */
  form: string;
  format?: FieldFormat;
  /** Whether it is a sum of integers, whose form is a text with its digits. */
  isWholeSum?: boolean;
  /** The field whose order the values have; undefined for plain numbers. */
  field?: IndexedField;
}

/** Returns groups with their measures. Groups without a sort are ordered by their values, missing ones last. */
export async function aggregateRows(
  serving: Serving,
  scope: Scope,
  aggregation: Aggregation,
  signal: AbortSignal,
): Promise<AggregateResult> {
  const groups = aggregation.groupBy.map((group, i) => groupOutput(scope, group, `g${i}`));
  const measures = aggregation.measures.map((measure, i) => measureOutput(scope, measure, `m${i}`));
  const outputs = [...groups, ...measures];
  const order = orderOf(aggregation.sort, outputs, groups);
  return serving.query(scope, signal, async (ask, aliases) => {
    const values: DuckDBValue[] = [];
    const select = [
      ...groups.map(({ value }, i) => `${value} AS g${i}`),
      ...measures.map(({ value }, i) => `${value} AS m${i}`),
    ];
    const groupBy = groups.length > 0 ? ` GROUP BY ${groups.map((_, i) => i + 1).join(', ')}` : '';
    const grouped = `SELECT ${select.join(', ')} FROM ${scope.table(aliases)}
      WHERE ${scope.where(aliases, values)}${groupBy}`;
    const found = await ask(
      `WITH grouped AS MATERIALIZED (${grouped})
      SELECT CAST(json_array(${outputs.map(({ form }) => form).join(', ')}) AS VARCHAR), (SELECT count(*) FROM grouped)
      FROM grouped ${order} LIMIT ${aggregation.limit}`,
      values,
    );
    const total = Number(found[0]?.[1] ?? 0);
    const rows = JSON.parse(`[${found.map(([row]) => row).join(',')}]`) as unknown[][];
    for (const row of rows)
      for (const [i, { isWholeSum }] of outputs.entries())
        if (isWholeSum && row[i] !== null) row[i] = BigInt(row[i] as string);
    return printSums({
      columns: outputs.map(({ name, type, format }) => ({ name, label: name, type, ...(format && { format }) })),
      rows,
      total,
      truncated: total > found.length,
    });
  });
}

function groupOutput(
  scope: Scope,
  { field: name, interval, timezone }: Aggregation['groupBy'][number],
  alias: string,
): Output {
  const field = scope.field(name);
  if (field.type === 'json') throw badInput(`The field "${name}" is of type json and cannot be grouped`);
  const value = interval ? bucket(field.type, field.column, interval, timezone) : field.column;
  const { type, format } = field;
  return { name, type, format, value, alias, form: jsonForm(field, alias), field };
}

function measureOutput(scope: Scope, { fn, field: name, as }: Aggregation['measures'][number], alias: string): Output {
  const output = (type: FieldType, value: string) => ({ name: as, type, value, alias, form: alias });
  if (name === undefined) {
    if (fn !== 'count') throw badInput(`The measure "${as}" needs a field`);
    return output('integer', 'count(*)');
  }
  const field = scope.field(name);
  switch (fn) {
    case 'count':
      return output('integer', `count(${field.column})`);
    case 'countDistinct':
      return output('integer', `count(DISTINCT ${field.column})`);
    case 'min':
    case 'max':
      return {
        ...output(field.type, extreme(fn, field, as)),
        format: field.format,
        form: jsonForm(field, alias),
        field,
      };
    case 'sum':
    case 'avg':
      if (fn === 'sum' && field.type === 'integer')
        return {
          ...output('integer', `sum(${field.column})`),
          form: `CAST(${alias} AS VARCHAR)`,
          isWholeSum: true,
        };
      return output('number', finite(field, `${fn}(${numbers(field, as)})`));
  }
}

/** Returns SQL of a sum or mean, null where it exceeds a double. Sums of integers do not. */
const finite = ({ type }: IndexedField, sql: string): string =>
  type === 'integer' ? sql : `CASE WHEN isfinite(CAST(${sql} AS DOUBLE)) THEN ${sql} END`;

/** Returns a field as numbers. Integers are added exactly, flagged decimals as doubles. */
function numbers(field: IndexedField, measure: string): string {
  if (field.type !== 'integer' && field.type !== 'number')
    throw badInput(`The measure "${measure}" needs a number, and "${field.name}" is a ${field.type}`);
  return field.format === 'decimal' ? doubleOf(field, field.column) : field.column;
}

/** Returns the minimum or maximum in the order of comparisons. */
export function extreme(fn: 'min' | 'max', field: IndexedField, measure: string): string {
  if (field.type === 'json')
    throw badInput(`The measure "${measure}" does not apply to "${field.name}", which is of type json`);
  const { column } = field;
  if (field.format !== 'decimal') return `${fn}(${column})`;
  // One of both is null, by the type of the column.
  return `coalesce(CAST(arg_${fn}(${column}, ${textKey(column)}) AS VARCHAR),
    CAST(${fn}(CASE WHEN typeof(${column}) <> 'VARCHAR' THEN ${column} END) AS VARCHAR))`;
}

/** Returns a total order: ties are broken by the groups. */
function orderOf(sort: Aggregation['sort'], outputs: Output[], groups: Output[]): string {
  const wanted = sort.map(({ column, descending }) => {
    const output = outputs.find(({ name }) => name === column);
    if (!output) throw badInput(`Unknown column "${column}" in sort`);
    return termsOf(output, descending);
  });
  // Values that compare as equal, such as two texts with the same beginning, are still separate groups.
  const keys = [...wanted, ...groups.flatMap((group) => [termsOf(group), group.alias])];
  return keys.length > 0 ? `ORDER BY ${keys.join(', ')}` : '';
}

const termsOf = ({ field, alias }: Output, descending = false): string =>
  sortTerms(field ?? { type: 'integer' }, alias, descending);

/**
 * Returns SQL of the start of the interval that contains a date or datetime: a date for a date, a UTC time for a
 * datetime. Weeks begin on Monday. With a time zone the intervals follow its clocks; the two hours with the same name
 * in autumn are two intervals.
 *
 * Throws BAD_USER_INPUT for a field of another type and for an unknown time zone.
 */
function bucket(type: FieldType, column: string, interval: Interval, timezone?: string): string {
  checkInterval(type, timezone);
  if (type === 'date')
    return interval === 'minute' || interval === 'hour' ? column : `CAST(date_trunc('${interval}', ${column}) AS DATE)`;
  if (timezone === undefined || timezone === 'UTC') return `date_trunc('${interval}', ${column})`;
  const zone = quoteText(timezone);
  const local = `((${column} AT TIME ZONE 'UTC') AT TIME ZONE ${zone})`;
  if (interval === 'minute' || interval === 'hour')
    return `${column} - (${local} - date_trunc('${interval}', ${local}))`;
  return `((date_trunc('${interval}', ${local}) AT TIME ZONE ${zone}) AT TIME ZONE 'UTC')`;
}
