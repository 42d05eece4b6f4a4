import { COMPARED_CHARACTERS } from '../../../core/criteria/value.ts';
import type { IndexedField } from '../../../core/dataset-index.ts';
import { exactText, jsonForm } from '../duckdb/value-forms.ts';
import { numberKeySql } from '../number-key.ts';
import { exactKeySql } from './exact-key.ts';
import { layoutOf, ROW } from './field-layout.ts';
import { partsSql } from './split-sum.ts';

/** Name in DuckDB of the function that splits words (core/search-words.ts): from a text to the text of a JSON array. */
export const WORD_LIST = 'dws_word_list';

const SLICE_FIELDS = 100;
/** Estimated bytes that a key, its quotes and the line of its action add to a value. */
const MEMBER_BYTES = 24;
/** Terms of one sum. A chain of additions is nested as deep as it is long, and DuckDB limits the depth. */
const TERMS = 100;

/**
 * Returns SQL of the texts that together are the two lines of a bulk request for a row of a table (field-layout.ts).
 * `row` is SQL of the row's number. A narrow table has one text. DuckDB needs some megabytes for each hundred fields,
 * so wide tables are split.
 */
export function documentSql(fields: readonly IndexedField[], row: string): string[] {
  const slices = Array.from({ length: Math.max(1, Math.ceil(fields.length / SLICE_FIELDS)) }, (_, i) =>
    fields.slice(i * SLICE_FIELDS, (i + 1) * SLICE_FIELDS),
  );
  return slices.map((slice, i) => {
    // Keys without a value are omitted, because `concat` skips null.
    const members = slice.flatMap((field) => membersOf(field).map(([name, json]) => `',"${name}":' || ${json}`));
    const begin = i === 0 ? [`'{"index":{"_id":"'`, row, `'"}}'`, 'chr(10)', `'{"${ROW}":'`, row] : [];
    const end = i === slices.length - 1 ? [`'}'`, 'chr(10)'] : [];
    return `concat(${[...begin, ...members, ...end].join(', ')})`;
  });
}

/** Returns SQL that estimates the bytes of a row's document. */
export function documentBytesSql(fields: readonly IndexedField[]): string {
  const texts = fields.filter(({ type }) => type === 'string' || type === 'text' || type === 'json');
  const sizes = texts.map(({ type, column }) => `${type === 'json' ? 1 : 2} * coalesce(strlen(${column}), 0)`);
  const sums = Array.from(
    { length: Math.ceil(sizes.length / TERMS) },
    (_, i) => `(${sizes.slice(i * TERMS, (i + 1) * TERMS).join(' + ')})`,
  );
  return [String((fields.length + 2) * MEMBER_BYTES), ...sums].join(' + ');
}

/** Returns the keys of a field with the SQL of their JSON texts, which is null where the value is missing. */
function membersOf(field: IndexedField): [name: string, json: string][] {
  const { type, format, column } = field;
  const { value, compared, exact, words, parts } = layoutOf(field);
  const members: [string, string][] = [
    [value, type === 'json' ? `CAST(json(${column}) AS VARCHAR)` : `to_json(${jsonForm(field, column)})`],
  ];
  if (type === 'text') members.push([compared, `to_json(left(${column}, ${COMPARED_CHARACTERS}))`]);
  if (type === 'json') members.push([compared, `CASE WHEN ${column} IS NOT NULL THEN 'true' END`]);
  if (type === 'text' || type === 'json') members.push([exact, quoted(`md5(${column})`)]);
  else if (format) members.push([exact, quoted(format === 'int64' ? exactKeySql(column) : exactText(column))]);
  if (field.keyed) members.push([compared, quoted(numberKeySql(column))]);
  if (words) members.push([words, wordsSql(column)]);
  if (parts) members.push([parts, partsSql(column)]);
  return members;
}

const quoted = (sql: string) => `'"' || ${sql} || '"'`;

/**
 * In ASCII, words are runs of letters and digits, which DuckDB finds faster; duplicates are harmless. Long texts may
 * have words that must be cut. `nullif` is around the `CASE`: inside it, DuckDB would evaluate its argument twice.
 */
const wordsSql = (
  column: string,
) => `nullif(CASE WHEN strlen(${column}) = length(${column}) AND strlen(${column}) <= ${COMPARED_CHARACTERS}
  THEN '["' || trim(regexp_replace(lower(${column}), '[^a-z0-9]+', '","', 'g'), '",') || '"]'
  WHEN ${column} IS NOT NULL THEN ${WORD_LIST}(${column}) END, '[""]')`;
