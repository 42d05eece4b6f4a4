import { exactJson, isDecimal, survivesAsNumber } from '../../core/exact-number.ts';
import type { Column, Field, FieldFormat } from '../../core/fields.ts';
import type { QueryResult } from '../../core/row-source.ts';

/** A field with longer strings is `text` (docs/contract/datasets.md#fields). */
const LONG_STRING = 8000;
const DATE = /^\d{4}-\d\d-\d\d$/;
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|\+00(?::?00)?)?$/;

/** Null for NaN and the infinities, which JSON lacks. */
function toNumber(text: string): number | null {
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

/** Null for dates without a JSON form: `infinity`, years BC or past 9999, MySQL's zero dates. */
const toDate = (text: string) => (DATE.test(text) && text > '0001' ? text : null);

/** Returns ISO 8601 in UTC with microseconds cut. Null as for dates. */
function toTimestamp(text: string): string | null {
  const [, date, time, fraction = ''] = TIMESTAMP.exec(text) ?? [];
  return date && toDate(date) ? `${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z` : null;
}

const FORMS: Record<Field['type'], (text: string) => unknown> = {
  string: String,
  text: String,
  integer: Number,
  number: toNumber,
  boolean: (text) => text === 't' || text === 'true' || text === '1',
  date: toDate,
  datetime: toTimestamp,
  json: (text) => JSON.parse(exactJson(text)) as unknown,
};

/** Removes the zeros at the end of decimals, as the rows of a dataset do. */
const withoutZeros = (digits: string): string =>
  digits.includes('.') && !/e/i.test(digits) ? digits.replace(/\.0+$|(?<!0)0+$/, '') : digits;

function formatOf(column: Column, values: string[]): FieldFormat | undefined {
  if (column.storage.kind === 'int64' || column.storage.kind === 'uint64') {
    return values.every((value) => Number.isSafeInteger(Number(value))) ? undefined : 'int64';
  }
  if (column.storage.kind !== 'decimal') return undefined;
  return values.every((value) => !isDecimal(value) || survivesAsNumber(value)) ? undefined : 'decimal';
}

function typeOf({ type, storage }: Column, values: string[]): Field['type'] {
  if (storage.kind === 'tinyint')
    return values.every((value) => value === '0' || value === '1') ? 'boolean' : 'integer';
  return type === 'string' && values.some((value) => value.length > LONG_STRING) ? 'text' : type;
}

function fieldOf(column: Column, values: string[]): Field {
  const format = formatOf(column, values);
  const type = typeOf(column, values);
  return { name: column.name, label: column.name, type, ...(format && { format }) };
}

/**
 * Converts a small result from the dialect of segments: `rows` have each column's text or null. As in a generation, a
 * field is flagged when one of its values would change as a JSON number, and then has exact strings. The driver adds
 * `duration`.
 */
export function toQueryResult(
  columns: Column[],
  rows: (string | null)[][],
  truncated: boolean,
): Omit<QueryResult, 'duration'> {
  const fields = columns.map((column, i) =>
    fieldOf(
      column,
      rows.map((row) => row[i]!).filter((value) => value !== null),
    ),
  );
  const forms = fields.map(({ type, format }) =>
    format ? (text: string) => (isDecimal(text) ? withoutZeros(text) : null) : FORMS[type],
  );
  // Object.fromEntries instead of assignment, because a column can be named __proto__.
  const entries = (row: (string | null)[]) =>
    row.map((value, i) => [fields[i]!.name, value === null ? null : forms[i]!(value)] as const);
  return { fields, rows: rows.map((row) => Object.fromEntries(entries(row))), truncated };
}
