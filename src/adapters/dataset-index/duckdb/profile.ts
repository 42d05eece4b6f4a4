import type { DuckDBValue } from '@duckdb/node-api';
import type { FieldProfile, IndexedField } from '../../../core/dataset-index.ts';
import { COUNTED, EXACT_DISTINCT, NUMERIC, numberOf, ORDERED, scaleFor, TOP } from '../profile-parts.ts';
import { extreme } from './aggregate.ts';
import { doubleOf, sortTerms } from './criteria-sql.ts';
import { histogram } from './histogram.ts';
import type { Scope } from './scope.ts';
import type { RunStatement, Serving } from './serving.ts';
import { jsonForm } from './value-forms.ts';

/** Returns statistics of fields over the matching rows, one field after the other, so that only its column is read. */
export async function profileRows(
  serving: Serving,
  scope: Scope,
  names: string[],
  signal: AbortSignal,
): Promise<{ total: number; fields: FieldProfile[] }> {
  const fields = names.map((name) => scope.field(name));
  return serving.query(scope, signal, async (ask, aliases) => {
    const rows: Rows = (select, { further = [], rest = '' } = {}) => {
      const values: DuckDBValue[] = [];
      const where = scope.where(aliases, values, further);
      return ask(`SELECT ${select} FROM ${scope.table(aliases)} WHERE ${where} ${rest}`, values);
    };
    const [[total] = []] = await rows('count(*)');
    const profiles: FieldProfile[] = [];
    for (const field of fields) profiles.push(await profile(field, Number(total), rows));
    return { total: Number(total), fields: profiles };
  });
}

/** Runs a select over the matching rows that also fulfil `further`; `rest` follows the condition. */
export type Rows = (select: string, more?: { further?: string[]; rest?: string }) => ReturnType<RunStatement>;

async function profile(field: IndexedField, total: number, rows: Rows): Promise<FieldProfile> {
  const { name, type, column } = field;
  const [counts] = await rows(`count(${column}), approx_count_distinct(${column})`);
  const count = Number(counts![0]);
  const approximate = Number(counts![1]) > EXACT_DISTINCT;
  const distinct = approximate ? Number(counts![1]) : Number((await rows(`count(DISTINCT ${column})`))[0]![0]);
  const ends = await extent(field, rows);
  return {
    name,
    type,
    count,
    missing: total - count,
    distinct: Math.min(distinct, count),
    approximate,
    ...ends,
    ...(await spread(field, ends, rows)),
    top: await top(field, rows),
    histogram: ORDERED.includes(type) && count > 0 ? await histogram(field, rows) : [],
  };
}

async function extent(field: IndexedField, rows: Rows): Promise<Pick<FieldProfile, 'min' | 'max'>> {
  if (!ORDERED.includes(field.type)) return { min: null, max: null };
  const [row] = await rows(
    `CAST(json_array(${jsonForm(field, extreme('min', field, 'min'))}, ${jsonForm(field, extreme('max', field, 'max'))}) AS VARCHAR)`,
  );
  const [min, max] = JSON.parse(String(row![0])) as unknown[];
  return { min, max };
}

/** Returns mean and deviation. DuckDB fails when a deviation exceeds a double on the way, hence the scale. */
async function spread(
  field: IndexedField,
  { min, max }: Pick<FieldProfile, 'min' | 'max'>,
  rows: Rows,
): Promise<Pick<FieldProfile, 'avg' | 'stdDev'>> {
  const scale = NUMERIC.includes(field.type) && min !== null ? scaleFor(Number(min), Number(max)) : null;
  if (scale === null) return { avg: null, stdDev: null };
  const double = doubleOf(field, field.column);
  const scaled = scale === 1 ? double : `(${double} * CAST('${scale}' AS DOUBLE))`;
  const [row] = await rows(`avg(${scaled}), stddev_pop(${scaled})`);
  const unscaled = (value: unknown) => (value === null ? null : numberOf((value as number) / scale));
  return { avg: unscaled(row![0]), stdDev: unscaled(row![1]) };
}

/** Returns the most frequent values; of equally frequent ones the smaller first. */
async function top(field: IndexedField, rows: Rows): Promise<FieldProfile['top']> {
  if (!COUNTED.includes(field.type)) return [];
  const { column } = field;
  const found = await rows(`CAST(json_array(${jsonForm(field, column)}, count(*)) AS VARCHAR)`, {
    further: [`${column} IS NOT NULL`],
    rest: `GROUP BY ${column} ORDER BY count(*) DESC, ${sortTerms(field, column)}, ${column} LIMIT ${TOP}`,
  });
  return found.map(([json]) => {
    const [value, count] = JSON.parse(String(json)) as [unknown, number];
    return { value, count };
  });
}
