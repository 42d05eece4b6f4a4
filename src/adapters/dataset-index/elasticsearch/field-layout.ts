import type { IndexedField } from '../../../core/dataset-index.ts';
import { partsMapping } from './split-sum.ts';

/**
 * How a row is stored as a document. `_id` is the row's number, so that a batch sent twice changes nothing; `n` is the
 * number again, for sorting. A field with the column `c3` has, depending on its type:
 *
 * - `c3`: the value in its JSON form (core/dataset-index.ts, `Row`), which `_source` returns exactly. It is searchable
 *   except for texts and json. For a date or datetime `c3.k` is the same as a keyword, because the engine cannot look
 *   up more than some thousand dates in one query.
 * - `p3`: for a text its first 8,000 code points, for a json value only `true`: used for comparisons, sorting and
 *   presence where `c3` cannot be.
 * - `k3`: for a decimal its sortable key (number-key.ts).
 * - `x3`: distinguishes values where `c3` does not: the sortable exact digits of a flagged number, a digest of a text
 *   or a json value.
 * - `s3`: for a flagged integer its parts, whose sums are exact (split-sum.ts).
 * - `w3`: the words of a string or text (core/search-words.ts), for `q`.
 *
 * `_source` contains all of them, so readers request the columns that they need. Excluding parts would force the engine
 * to write every document again, a fifth of the work of a load, and to store the whole one in addition. A missing value
 * has none of them.
 */
export interface FieldLayout {
  /** Path of the value in `_source`. */
  value: string;
  /**
   * Field for comparisons, sorting and presence. Numbers are doubles, flagged ones their sortable keys, dates dates,
   * strings keywords.
   */
  compared: string;
  /** Field for membership of a list. */
  listed: string;
  /** Field for grouping and for counting distinct values. */
  exact: string;
  /** Field for `q`; null where the field has no words. */
  words: string | null;
  /** Field of the parts of an integer; null where it has none. */
  parts: string | null;
}

/** Name of the row's number. */
export const ROW = 'n';

/** Returns the names of a field's parts, by its type and column. */
export function layoutOf({
  type,
  format,
  column,
  keyed,
  split,
}: Pick<IndexedField, 'type' | 'format' | 'column' | 'keyed' | 'split'>): FieldLayout {
  const number = column.slice(1);
  const long = type === 'text' || type === 'json';
  const key = format === 'int64' ? `x${number}` : keyed && `k${number}`;
  const compared = key ?? (long ? `p${number}` : column);
  return {
    value: column,
    compared,
    listed: type === 'date' || type === 'datetime' ? `${column}.k` : compared,
    exact: long || format ? `x${number}` : column,
    words: type === 'string' || type === 'text' ? `w${number}` : null,
    parts: split ? `s${number}` : null,
  };
}

const KEYWORD = { type: 'keyword' };
/** Stored in `_source` only. (A disabled object accepts any JSON value.) */
const STORED = { type: 'object', enabled: false };
/** Words are looked up by prefix, never counted or sorted. */
const WORDS = { type: 'keyword', doc_values: false, norms: false };
const LOOKED_UP = { fields: { k: { type: 'keyword', doc_values: false, norms: false } } };

function valueMapping({ type, keyed }: IndexedField): Record<string, unknown> {
  switch (type) {
    case 'integer':
    case 'number':
      // Decimals past a double are only stored.
      return { type: 'double', ...(keyed && { ignore_malformed: true }) };
    case 'boolean':
      return { type: 'boolean' };
    case 'date':
      return { type: 'date', format: 'strict_date', ...LOOKED_UP };
    case 'datetime':
      return { type: 'date', format: 'strict_date_time', ...LOOKED_UP };
    case 'string':
      return KEYWORD;
    default:
      return STORED;
  }
}

/** Returns the strict mapping of a generation's documents. */
export function mappingsOf(fields: readonly IndexedField[]): Record<string, unknown> {
  const properties: Record<string, unknown> = { [ROW]: { type: 'long' } };
  for (const field of fields) {
    const { value, compared, exact, words, parts } = layoutOf(field);
    properties[value] = valueMapping(field);
    if (compared !== value) properties[compared] = field.type === 'json' ? { type: 'boolean' } : KEYWORD;
    if (exact !== value) properties[exact] = KEYWORD;
    if (words) properties[words] = WORDS;
    if (parts) properties[parts] = partsMapping;
  }
  return { dynamic: 'strict', properties };
}
