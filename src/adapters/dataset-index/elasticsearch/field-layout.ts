import type { IndexedField } from '../../../core/dataset-index.ts';

/**
 * How a row lies in its document. `_id` is the row's number, so that sending a batch again changes nothing; `n` is the number once more, for sorting. A field
 * with the column `c3` has, as its type needs them:
 *
 * - `c3`: the value in its JSON form (core/dataset-index.ts, `Row`), which `_source` gives back exactly. It is searchable too, but for texts and json.
 *   Of a date or datetime `c3.k` is the same as a keyword, because the engine looks up no more than some thousand dates at once.
 * - `p3`: of a text its first 8,000 code points, of a json value only `true`: what comparisons, sorting and presence look at where `c3` cannot.
 * - `x3`: what tells values apart where `c3` does not: the sortable exact digits of a flagged number, a digest of a text or a json value.
 * - `w3`: the words of a string or text (core/words.ts), for `q`.
 *
 * `_source` holds them all, so readers ask for the columns they want: leaving parts out makes the engine write every document anew, a fifth of the work of a
 * load, and keep the whole one beside it. A missing value has none of them.
 */
export interface FieldLayout {
  /** Where `_source` has the value. */
  value: string;
  /** What comparisons, sorting and presence look at. Numbers are doubles, dates dates, strings keywords. */
  compared: string;
  /** What membership of a list looks at. */
  listed: string;
  /** What grouping and counting of different values look at. */
  exact: string;
  /** What `q` looks at; null where the field has no words. */
  words: string | null;
}

/** The row's number. */
export const ROW = 'n';

/** Names of a field's parts, by its type and column. */
export function layoutOf({ type, format, column }: Pick<IndexedField, 'type' | 'format' | 'column'>): FieldLayout {
  const number = column.slice(1);
  const long = type === 'text' || type === 'json';
  return {
    value: column,
    compared: long ? `p${number}` : column,
    listed: long ? `p${number}` : type === 'date' || type === 'datetime' ? `${column}.k` : column,
    exact: long || format ? `x${number}` : column,
    words: type === 'string' || type === 'text' ? `w${number}` : null,
  };
}

const KEYWORD = { type: 'keyword' };
/** Kept in `_source` alone. (A disabled object takes any JSON value.) */
const STORED = { type: 'object', enabled: false };
/** Words are looked up by prefix, never counted or sorted. */
const WORDS = { type: 'keyword', doc_values: false, norms: false };
const LOOKED_UP = { fields: { k: { type: 'keyword', doc_values: false, norms: false } } };

function valueMapping({ type }: IndexedField): Record<string, unknown> {
  switch (type) {
    case 'integer':
    case 'number':
      return { type: 'double' };
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

/** The strict mapping of a generation's documents. */
export function mappingsOf(fields: readonly IndexedField[]): Record<string, unknown> {
  const properties: Record<string, unknown> = { [ROW]: { type: 'long' } };
  for (const field of fields) {
    const { value, compared, exact, words } = layoutOf(field);
    properties[value] = valueMapping(field);
    if (compared !== value) properties[compared] = field.type === 'json' ? { type: 'boolean' } : KEYWORD;
    if (exact !== value) properties[exact] = KEYWORD;
    if (words) properties[words] = WORDS;
  }
  return { dynamic: 'strict', properties };
}
