import {
  DuckDBTypeId,
  type DuckDBArrayType,
  type DuckDBListType,
  type DuckDBMapType,
  type DuckDBStructType,
  type DuckDBType,
} from '@duckdb/node-api';
import type { FileProblem } from '../../../core/row-source.ts';
import { quoteName, quoteText, type DuckdbSession } from './duckdb-session.ts';

/** Kinds of values that fields cannot have unchanged, and their results. */
const CHANGES = {
  infinite: 'missing (not a finite number)',
  outside: 'missing (outside the years 1 to 9999)',
  fraction: 'cut to milliseconds',
  bytes: 'bytes, and written in Base64',
} as const;

type Change = keyof typeof CHANGES;

/** Number of columns that one statement checks. */
const BATCH = 500;
const MAX_SHOWN = 100;

/** How the text of a value can be kept, by the format of the file. */
export const KEEP_TEXTS = 'Set its type in columns to VARCHAR to keep the texts';
export const SELECT_TEXTS = 'Select it as VARCHAR in the query to keep the texts';
export const SELECT_PARTS = 'Select the parts in the query to name them';
const SELECT_DECODED = 'Select decode(…) of it in the query if the bytes are texts in UTF-8';
/** Queries read nanoseconds in UTC as microseconds. */
const SELECT_MICROSECONDS = 'Select it as VARCHAR in the query to keep the texts up to microseconds';

/**
 * The source of the columns of the view `data` in SQL: their values, and the texts from which values of times are read.
 */
export interface ValueSource {
  from: string;
  columns: { value: string; text?: string }[];
}

interface Options {
  /** How the values can be kept. */
  hint: string;
  /** Columns with nanoseconds in UTC. */
  fine?: ReadonlySet<string>;
  /** Types of the columns that are read; all without it. */
  types?: readonly DuckDBTypeId[];
  source?: ValueSource;
}

/** Digits after the millisecond of a time. DuckDB reads up to the microsecond. */
const FINE_FRACTION = String.raw`:[0-9]{2}[.,][0-9]{3,}[1-9]`;

/**
 * Returns the columns of the view `data` with values that fields cannot have unchanged: they become missing, or lose
 * digits. Counts all rows.
 */
export async function valueProblems(
  session: DuckdbSession,
  { hint, fine, types, source }: Options,
): Promise<FileProblem[]> {
  const prepared = await session.prepare('select * from data');
  const checks = Array.from({ length: prepared.columnCount }, (_, i) => i).flatMap((i) => {
    const [name, type] = [prepared.columnName(i), prepared.columnType(i)];
    if (types && !types.includes(type.typeId)) return [];
    return (Object.keys(CHANGES) as Change[]).flatMap((change) => {
      const { value, text } = source?.columns[i] ?? { value: quoteName(name) };
      const [v, t] = [`v${i}`, `t${i}`];
      const found = changes(change, type, v, 0);
      if (found === undefined) return [];
      const isText = change === 'fraction' && text !== undefined;
      const condition = isText ? `(${found} or regexp_matches(${t}, ${quoteText(FINE_FRACTION)}))` : found;
      const parts = [`${value} as ${v}`, ...(isText ? [`${text} as ${t}`] : [])];
      return [{ name, change, condition, parts, shown: isText ? t : v, nested: CONTAINERS.has(type.typeId) }];
    });
  });
  const problems: { column: string; message: string }[] = [];
  for (let at = 0; at < checks.length; at += BATCH) {
    const batch = checks.slice(at, at + BATCH);
    // Not by `filter` clauses: DuckDB reserves memory for all values for each clause.
    const texts = batch.map(
      ({ shown, condition }, i) => `case when ${condition} then cast(${shown} as VARCHAR) end as p${i}`,
    );
    const counts = batch.map((_, i) => `count(p${i}), any_value(p${i})`);
    // Each value is computed once.
    const parts = [...new Set(batch.flatMap((check) => check.parts))].join(', ');
    const [row] = await session.rowsOfMany(
      `select ${counts.join(', ')} from (select ${texts.join(', ')} from (select ${parts} from ${source?.from ?? 'data'}))`,
    );
    for (const [i, { name, change, nested }] of batch.entries()) {
      const count = Number(row![2 * i]);
      if (count > 0) problems.push({ column: name, message: message(count, String(row![2 * i + 1]), change, nested) });
    }
  }
  return problems.map(({ message: text, ...place }) => {
    if (text.endsWith(CHANGES.bytes)) return { ...place, message: `${text}. ${SELECT_DECODED}` };
    const isFine = fine?.has(place.column) && text.endsWith(CHANGES.fraction);
    return { ...place, message: `${text}. ${isFine ? SELECT_MICROSECONDS : hint}` };
  });
}

function message(count: number, first: string, change: Change, nested: boolean): string {
  const shown = first.length > MAX_SHOWN ? `${first.slice(0, MAX_SHOWN)}…` : first;
  const [values, verb] = count === 1 ? ['1 value', 'is'] : [`${count} values`, 'are'];
  if (!nested) return `${values}, such as ${shown}, ${verb} ${CHANGES[change]}`;
  return `Parts of ${values} are ${CHANGES[change]}`;
}

const T = DuckDBTypeId;
const CONTAINERS = new Set<DuckDBTypeId>([T.LIST, T.ARRAY, T.STRUCT, T.MAP]);

/** Returns SQL that states whether a value, or a part of it, changes; undefined if its type cannot. */
function changes(change: Change, type: DuckDBType, value: string, depth: number): string | undefined {
  const item = `x${depth}`;
  switch (type.typeId) {
    case T.LIST:
    case T.ARRAY: {
      const part = changes(change, (type as DuckDBListType | DuckDBArrayType).valueType, item, depth + 1);
      return part && `len(list_filter(${value}, lambda ${item}: ${part})) > 0`;
    }
    case T.STRUCT: {
      const { entryNames, entryTypes } = type as DuckDBStructType;
      const parts = entryNames.flatMap((name, i) => {
        const key = name === '' ? String(i + 1) : quoteText(name);
        return changes(change, entryTypes[i]!, `struct_extract(${value}, ${key})`, depth) ?? [];
      });
      return parts.length > 0 ? `(${parts.map((part) => `coalesce(${part}, false)`).join(' or ')})` : undefined;
    }
    case T.MAP: {
      const { keyType, valueType } = type as DuckDBMapType;
      const parts = [
        changes(change, keyType, `struct_extract(${item}, 'key')`, depth + 1),
        changes(change, valueType, `struct_extract(${item}, 'value')`, depth + 1),
      ].flatMap((part) => (part === undefined ? [] : [`coalesce(${part}, false)`]));
      return parts.length > 0
        ? `len(list_filter(map_entries(${value}), lambda ${item}: ${parts.join(' or ')})) > 0`
        : undefined;
    }
    case T.FLOAT:
    case T.DOUBLE:
      return change === 'infinite' ? `not isfinite(${value})` : undefined;
    case T.BLOB:
      return change === 'bytes' ? `${value} is not null` : undefined;
    case T.DATE:
      return change === 'outside' ? isOutside(value) : undefined;
    case T.TIMESTAMP:
    case T.TIMESTAMP_S:
    case T.TIMESTAMP_MS:
    case T.TIMESTAMP_TZ:
      if (change === 'outside') return isOutside(value);
      return change === 'fraction' ? `microsecond(${value}) % 1000 <> 0` : undefined;
    case T.TIMESTAMP_NS:
      if (change === 'outside') return `not isfinite(${value})`;
      return change === 'fraction' ? `(isfinite(${value}) and epoch_ns(${value}) % 1000000 <> 0)` : undefined;
    default:
      return undefined;
  }
}

/** Returns SQL that states whether a date or time is infinite, or outside the years 1 to 9999. */
const isOutside = (value: string): string => `(not isfinite(${value}) or year(${value}) not between 1 and 9999)`;
