import { isDeepStrictEqual } from 'node:util';

/** A value that later changes of a row do not affect: text of JSON, milliseconds of a date, or the value itself. */
export type StoredValue = string | number | boolean | null | undefined;

/** Converts the values of a type of column. */
export interface ColumnCodec {
  /** Returns the value as a parameter. */
  encode(value: unknown): unknown;
  /** Returns the value in a form that does not change. */
  freeze(value: unknown): StoredValue;
  /** Returns the value that was frozen. */
  thaw(stored: StoredValue): unknown;
  /** Returns whether the value differs from the frozen one. */
  differs(value: unknown, stored: StoredValue): boolean;
}

const SCALAR: ColumnCodec = {
  encode: (value) => value,
  freeze: (value) => value as StoredValue,
  thaw: (stored) => stored,
  differs: (value, stored) => value !== stored,
};

const TIMESTAMP: ColumnCodec = {
  encode: (value) => (value instanceof Date ? value.toISOString() : value),
  freeze: (value) => (value instanceof Date ? value.getTime() : null),
  thaw: (stored) => (typeof stored === 'number' ? new Date(stored) : stored),
  differs: (value, stored) => TIMESTAMP.freeze(value) !== stored,
};

const JSON_VALUE: ColumnCodec = {
  encode: (value) => (value === null ? null : JSON.stringify(value)),
  freeze: (value) => (value === null ? null : JSON.stringify(value)),
  thaw: (stored) => (typeof stored === 'string' ? (JSON.parse(stored) as unknown) : stored),
  differs(value, stored) {
    const text = JSON_VALUE.freeze(value);
    // The order of keys does not matter: Postgres does not keep it.
    return text !== stored && !isDeepStrictEqual(JSON_VALUE.thaw(text), JSON_VALUE.thaw(stored));
  },
};

/** Returns the codec of a column type of Postgres. */
export function columnCodec(type: string): ColumnCodec {
  if (type.startsWith('json')) return JSON_VALUE;
  return type.startsWith('timestamp') ? TIMESTAMP : SCALAR;
}
