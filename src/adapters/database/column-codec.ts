import { isDeepStrictEqual } from 'node:util';

/** A value as it is stored, which later changes of the row do not affect. */
export interface StoredValue {
  /** Text of JSON, milliseconds of a date, or the value itself. */
  content: string | number | boolean | null;
  /** The object in the row, of JSON. */
  reference?: unknown;
}

/** How thoroughly values are compared: only a `full` comparison notices that the content of a JSON object has changed. */
export type Comparison = 'quick' | 'full';

/** Converts the values of a type of column. */
export interface ColumnCodec {
  /** Returns SQL for the value of a column, as rows contain it. Default: the column. */
  select?(column: string): string;
  /** Returns the value as a parameter. */
  encode(value: unknown): unknown;
  /** Returns the value in a form that does not change. */
  freeze(value: unknown): StoredValue;
  /** Returns the value that was frozen. */
  thaw(stored: StoredValue): unknown;
  /** Returns whether the value differs from the frozen one. */
  differs(value: unknown, stored: StoredValue, comparison: Comparison): boolean;
}

const SCALAR: ColumnCodec = {
  encode: (value) => value,
  freeze: (value) => ({ content: value as StoredValue['content'] }),
  thaw: ({ content }) => content,
  differs: (value, { content }) => value !== content,
};

/** Numbers with at most 15 digits, which are exact. */
const NUMERIC: ColumnCodec = { ...SCALAR, select: (column) => `${column}::float8` };

const TIMESTAMP: ColumnCodec = {
  encode: (value) => (value instanceof Date ? value.toISOString() : value),
  freeze: (value) => ({ content: value instanceof Date ? value.getTime() : null }),
  thaw: ({ content }) => (typeof content === 'number' ? new Date(content) : content),
  differs: (value, { content }) => TIMESTAMP.freeze(value).content !== content,
};

const printJson = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
const parseJson = (text: StoredValue['content']): unknown =>
  typeof text === 'string' ? (JSON.parse(text) as unknown) : text;

const JSON_VALUE: ColumnCodec = {
  encode: printJson,
  freeze: (value) => ({ content: printJson(value), reference: value }),
  thaw: ({ content }) => parseJson(content),
  differs(value, { content, reference }, comparison) {
    if (comparison === 'quick' && value === reference) return false;
    const text = printJson(value);
    // The order of keys does not matter: Postgres does not keep it.
    return text !== content && !isDeepStrictEqual(parseJson(text), parseJson(content));
  },
};

const CODECS: readonly (readonly [RegExp, ColumnCodec])[] = [
  [/^jsonb?$/, JSON_VALUE],
  [/^timestamp/, TIMESTAMP],
  [/^numeric/, NUMERIC],
  [/^(uuid|text|varchar|boolean|int|integer|bigint|double precision)$/, SCALAR],
];

/** Returns the codec of a column type of Postgres. Throws for a type whose values it could not compare. */
export function columnCodec(type: string): ColumnCodec {
  const codec = CODECS.find(([pattern]) => pattern.test(type))?.[1];
  if (!codec) throw new Error(`The unit of work does not support the column type ${type}`);
  return codec;
}
