import type { SQLOutputValue } from 'node:sqlite';
import { isoDate, isoDatetime } from '../../../core/dates.ts';
import type { Column, FieldType, Storage } from '../../../core/fields.ts';

/** Meaning of a column's declared type. `digits`: NUMERIC and DECIMAL, which SQLite stores as integers where it can. */
type Meaning = 'boolean' | 'date' | 'datetime' | 'json' | 'digits' | 'integer' | 'number' | 'string';

const MEANINGS: [RegExp, Meaning][] = [
  [/^BOOL/, 'boolean'],
  [/^DATE$/, 'date'],
  [/^(DATETIME|TIMESTAMP)/, 'datetime'],
  [/^JSON/, 'json'],
  [/^(DEC|NUM|MONEY)/, 'digits'],
  // SQLite's own rules of affinity, in their order.
  [/INT/, 'integer'],
  [/CHAR|CLOB|TEXT|BLOB/, 'string'],
  [/REAL|FLOA|DOUB/, 'number'],
];

const TRUTHS = new Map<unknown, string>([
  [0n, 'false'],
  [1n, 'true'],
  ['false', 'false'],
  ['true', 'true'],
  ['FALSE', 'false'],
  ['TRUE', 'true'],
]);

/** Common dates, up to the 28th of a month, which every month has: ten times as fast as the calendar. */
const USUAL_DATE = /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/;
const USUAL_MOMENT =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])[T ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z?$/;

/** Returns the value as its text in segments, or undefined when it does not have that meaning. */
const READERS: Record<'boolean' | 'date' | 'datetime' | 'json', (value: SQLOutputValue) => string | undefined> = {
  boolean: (value) => TRUTHS.get(value),
  date: (value) => (typeof value !== 'string' ? undefined : USUAL_DATE.test(value) ? value : isoDate(value)),
  datetime: (value) => (typeof value !== 'string' ? undefined : USUAL_MOMENT.test(value) ? value : isoDatetime(value)),
  json: (value) => {
    try {
      if (typeof value === 'string') return JSON.parse(value) === undefined ? undefined : value;
    } catch {
      // Invalid JSON has no meaning.
    }
    return undefined;
  },
};

const meaningOf = (declared: string): Meaning | undefined =>
  MEANINGS.find(([word]) => word.test(declared.toUpperCase()))?.[1];

/** How a value is read in a declared type: unchanged, without digits after the millisecond, or not. */
export type Reading = 'whole' | 'cut' | 'none';
const CUT_FRACTION = /\.\d{3}\d*[1-9]/;

/** Returns a function that states how values are read in a declared type; undefined for a type that restricts none. */
export function readingIn(declared: string): ((value: SQLOutputValue) => Reading) | undefined {
  const meaning = meaningOf(declared);
  if (meaning === 'boolean' || meaning === 'json')
    return (value) => (READERS[meaning](value) === undefined ? 'none' : 'whole');
  if (meaning !== 'date' && meaning !== 'datetime') return undefined;
  // A column of dates may have times.
  return (value) => {
    if (READERS.datetime(value) === undefined) return 'none';
    return CUT_FRACTION.test(value as string) ? 'cut' : 'whole';
  };
}

/** How a text of a time is written: without a time of day, with a time zone, or with a time of day alone. */
export const TIME_FORMS = ['day', 'zoned', 'local'] as const;
const DAY_LENGTH = 10;
const ZONE = /[-+Zz]/;

/** Returns a function that states how texts of times are written; undefined for a declared type without times. */
export function timeFormIn(declared: string): ((value: string) => (typeof TIME_FORMS)[number]) | undefined {
  const meaning = meaningOf(declared);
  if (meaning !== 'date' && meaning !== 'datetime') return undefined;
  return (value) => (value.length === DAY_LENGTH ? 'day' : ZONE.test(value.slice(DAY_LENGTH)) ? 'zoned' : 'local');
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

const column = (type: FieldType, storage: Storage): Pick<Column, 'type' | 'storage'> => ({ type, storage });
const TEXT = column('string', { kind: 'text' });
const INTEGER = column('integer', { kind: 'int64' });
const NUMBER = column('number', { kind: 'float64' });
const TYPED = {
  boolean: column('boolean', { kind: 'boolean' }),
  date: column('date', { kind: 'date' }),
  datetime: column('datetime', { kind: 'timestamp' }),
  json: column('json', { kind: 'json' }),
} as const;

/**
 * Determines a column's type. SQLite stores any value in any column, so a declared type is used only where every value
 * conforms: a BOOLEAN of 0 and 1, a DATE, DATETIME or TIMESTAMP of ISO texts, a JSON of documents. Otherwise the values
 * decide: all integers are `integer`, integers and reals `number`, and a column with a text or a blob is `string`.
 * Expressions declare no type. Without any value the declared type applies. So nothing is lost and nothing fails later.
 */
export class ValueTally {
  readonly #declared: string | null;
  readonly #meaning: Meaning | undefined;
  /** Meanings that all values have had so far. */
  #possible: ('boolean' | 'date' | 'datetime' | 'json')[];
  #integers = false;
  #unsafe = false;
  #reals = false;
  #texts = false;
  #blobs = false;

  constructor(declared: string | null) {
    this.#declared = declared;
    this.#meaning = declared === null ? undefined : meaningOf(declared);
    const meaning = this.#meaning;
    this.#possible =
      meaning === 'date'
        ? ['date', 'datetime']
        : meaning === 'boolean' || meaning === 'datetime' || meaning === 'json'
          ? [meaning]
          : [];
  }

  /** Counts a value. Returns its text in the meaning that all values have had so far, undefined without one. */
  see(value: SQLOutputValue): string | undefined {
    if (value === null) return undefined;
    if (typeof value === 'string') this.#texts = true;
    else if (typeof value === 'number') this.#reals = true;
    else if (typeof value === 'bigint') {
      this.#integers = true;
      if (value > MAX_SAFE || value < -MAX_SAFE) this.#unsafe = true;
    } else this.#blobs = true;
    for (;;) {
      const [meaning] = this.#possible;
      if (meaning === undefined) return undefined;
      const text = READERS[meaning](value);
      if (text !== undefined) return text;
      // Every date is a datetime too, so only the first of the meanings is checked.
      this.#possible.shift();
    }
  }

  /** Counts a value and returns its text in segments, for the type of the values so far. */
  textOf(value: SQLOutputValue): string | null {
    return value === null ? null : (this.see(value) ?? (this.#isDecimal ? digitsOf(value) : plainText(value)));
  }

  settle(name: string): Column {
    const seen = [this.#integers && 'integer', this.#reals && 'real', this.#texts && 'text', this.#blobs && 'blob']
      .filter(Boolean)
      .join(', ');
    return { name, ...this.#type(), sourceType: this.#declared ?? (seen || 'null') };
  }

  /** An integer that a double would change stays exact among reals, as digits. */
  get #isDecimal(): boolean {
    return this.#unsafe && !this.#texts && !this.#blobs && (this.#reals || this.#meaning === 'digits');
  }

  #type(): Pick<Column, 'type' | 'storage'> {
    if (this.#possible[0]) return TYPED[this.#possible[0]];
    if (this.#texts || this.#blobs) return TEXT;
    if (this.#isDecimal) return column('number', { kind: 'decimal' });
    if (this.#reals) return NUMBER;
    if (this.#integers) return this.#meaning === 'digits' || this.#meaning === 'number' ? NUMBER : INTEGER;
    if (this.#meaning === 'integer') return INTEGER;
    return this.#meaning === 'digits' || this.#meaning === 'number' ? NUMBER : TEXT;
  }
}

/** Returns a value as its text in segments, for the determined column. */
export function textOf(value: SQLOutputValue, { type, storage }: Column): string | null {
  if (value === null) return null;
  if (type === 'boolean' || type === 'date' || type === 'datetime' || type === 'json')
    return READERS[type](value) ?? String(value);
  return storage.kind === 'decimal' ? digitsOf(value) : plainText(value);
}

/** Returns a value of a column of decimals as a text: a real past the exact integers with all digits that it has. */
const digitsOf = (value: Exclude<SQLOutputValue, null>): string =>
  plainText(
    typeof value === 'number' && Number.isFinite(value) && Math.abs(value) > Number.MAX_SAFE_INTEGER
      ? BigInt(value)
      : value,
  );

function plainText(value: Exclude<SQLOutputValue, null>): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object'
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
    : String(value);
}
