import { COMPARED_CHARACTERS } from '../../../core/criteria/value.ts';
import type { IndexedField } from '../../../core/dataset-index.ts';
import { exactText, jsonForm } from '../duckdb/value-forms.ts';
import { exactKeySql } from './exact-key.ts';
import { layoutOf, ROW } from './field-layout.ts';

/** DuckDB's name of our own way to split words (core/words.ts): a JSON array's text from a text. */
export const WORD_LIST = 'dws_word_list';

const SLICE_FIELDS = 100;
/** What a member's name, its quotes and an action's line add to a value, in bytes; only an estimate. */
const MEMBER_BYTES = 24;
/** Terms of one sum: a chain of additions is as deep as it is long, and DuckDB bounds the depth. */
const TERMS = 100;

/**
 * SQL of the texts that, one after the other, make a row of the staged table two lines of a bulk request (layout.ts). A narrow table's is one text; DuckDB needs
 * some megabytes for each hundred fields, so wide ones come in slices.
 */
export function documentSql(fields: readonly IndexedField[]): string[] {
  const slices = Array.from({ length: Math.max(1, Math.ceil(fields.length / SLICE_FIELDS)) }, (_, i) =>
    fields.slice(i * SLICE_FIELDS, (i + 1) * SLICE_FIELDS),
  );
  return slices.map((slice, i) => {
    // Members without a value are left out: to `concat` null is nothing.
    const members = slice.flatMap((field) => membersOf(field).map(([name, json]) => `',"${name}":' || ${json}`));
    const begin = i === 0 ? [`'{"index":{"_id":"'`, 'rowid', `'"}}'`, 'chr(10)', `'{"${ROW}":'`, 'rowid'] : [];
    const end = i === slices.length - 1 ? [`'}'`, 'chr(10)'] : [];
    return `concat(${[...begin, ...members, ...end].join(', ')})`;
  });
}

/** SQL of about how many bytes a row's document has. */
export function documentBytesSql(fields: readonly IndexedField[]): string {
  const texts = fields.filter(({ type }) => type === 'string' || type === 'text' || type === 'json');
  const sizes = texts.map(({ type, column }) => `${type === 'json' ? 1 : 2} * coalesce(strlen(${column}), 0)`);
  const sums = Array.from(
    { length: Math.ceil(sizes.length / TERMS) },
    (_, i) => `(${sizes.slice(i * TERMS, (i + 1) * TERMS).join(' + ')})`,
  );
  return [String((fields.length + 2) * MEMBER_BYTES), ...sums].join(' + ');
}

/** Names of the field's members with the SQL of their JSON texts, which is null where the value is missing. */
function membersOf(field: IndexedField): [name: string, json: string][] {
  const { type, format, column } = field;
  const { value, compared, exact, words } = layoutOf(field);
  const members: [string, string][] = [
    [value, type === 'json' ? `CAST(json(${column}) AS VARCHAR)` : `to_json(${jsonForm(field, column)})`],
  ];
  if (type === 'text') members.push([compared, `to_json(left(${column}, ${COMPARED_CHARACTERS}))`]);
  if (type === 'json') members.push([compared, `CASE WHEN ${column} IS NOT NULL THEN 'true' END`]);
  if (type === 'text' || type === 'json') members.push([exact, quoted(`md5(${column})`)]);
  else if (format) members.push([exact, quoted(format === 'int64' ? exactKeySql(column) : exactText(column))]);
  if (words) members.push([words, wordsSql(column)]);
  return members;
}

const quoted = (sql: string) => `'"' || ${sql} || '"'`;

/** In ASCII words are runs of letters and digits, which DuckDB finds faster; repeated ones do no harm. Long texts may hold words that must be cut. */
const wordsSql = (
  column: string,
) => `CASE WHEN strlen(${column}) = length(${column}) AND strlen(${column}) <= ${COMPARED_CHARACTERS}
  THEN '["' || nullif(trim(regexp_replace(lower(${column}), '[^a-z0-9]+', '","', 'g'), '",'), '') || '"]' WHEN ${column} IS NOT NULL THEN ${WORD_LIST}(${column}) END`;
