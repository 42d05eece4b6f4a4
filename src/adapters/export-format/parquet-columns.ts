import type { SchemaElement } from 'hyparquet-writer';
import { MAX_DECIMAL_DIGITS } from '../../core/exact-number.ts';
import type { Field } from '../../core/fields.ts';

const DAY = 86_400_000;
const GREATEST_INT64 = 2n ** 63n - 1n;

/** How the values of a field are stored in Parquet. */
export interface ParquetColumn {
  name: string;
  element: SchemaElement;
  /** The element in the schema, where values are written as another one. */
  stated?: SchemaElement;
  /**
   * Whether minimum and maximum of each group are written, for readers that skip groups. For texts they would stay in
   * memory to the end.
   */
  statistics: boolean;
  /** Converts a value to Parquet's form; null for a missing one. */
  convert(value: unknown): unknown;
  /** Returns the type of the exact decimals converted so far; undefined where no decimal of SQL has so many digits. */
  decimalType?(): string | undefined;
}

type Element = Omit<SchemaElement, 'name'>;
type Kind = Omit<ParquetColumn, 'name' | 'element' | 'stated' | 'decimalType'> & { element: Element; stated?: Element };

const TEXT: Kind = {
  element: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  statistics: false,
  convert: (value) => value,
};

const KINDS: Record<Field['type'], Kind> = {
  string: TEXT,
  text: TEXT,
  // The library would rebuild documents, and lose their keys `__proto__`.
  json: {
    ...TEXT,
    stated: { type: 'BYTE_ARRAY', converted_type: 'JSON', logical_type: { type: 'JSON' } },
    convert: (value) => JSON.stringify(value),
  },
  integer: { element: { type: 'INT64' }, statistics: true, convert: (value) => BigInt(value as number) },
  number: { element: { type: 'DOUBLE' }, statistics: true, convert: (value) => value },
  boolean: { element: { type: 'BOOLEAN' }, statistics: true, convert: (value) => value },
  date: {
    element: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
    statistics: true,
    convert: (value) => Date.parse(value as string) / DAY,
  },
  datetime: {
    element: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MILLIS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    },
    statistics: true,
    convert: (value) => BigInt(Date.parse(value as string)),
  },
};

/**
 * Returns the column of a field. All columns are nullable. Exact decimals are stored as text, because Parquet has one
 * scale for all values, which is known at the end only; exact integers are stored as 64 bits.
 */
export function columnOf(field: Field): ParquetColumn {
  const kind = field.format === 'decimal' ? exactDecimal() : KINDS[field.type];
  const { stated, ...rest } = kind;
  const optional = { name: field.name, repetition_type: 'OPTIONAL' } as const;
  const column = {
    name: field.name,
    ...rest,
    ...(stated && { stated: { ...stated, ...optional } }),
    element: { ...kind.element, ...optional },
  } satisfies ParquetColumn;
  return field.format === 'int64' ? { ...column, convert: longInteger(column.element) } : column;
}

const DECIMAL = /^-?(\d+)(?:\.(\d+))?$/;

/** Returns the kind of exact decimals, which counts their digits. */
function exactDecimal(): Kind & Pick<ParquetColumn, 'decimalType'> {
  let [whole, scale] = [1, 0];
  return {
    ...TEXT,
    convert(value) {
      const [, digits, fraction = ''] = DECIMAL.exec(value as string) ?? [];
      whole = Math.max(whole, digits?.length ?? Infinity);
      scale = Math.max(scale, fraction.length);
      return value;
    },
    decimalType: () => (whole + scale <= MAX_DECIMAL_DIGITS ? `DECIMAL(${whole + scale},${scale})` : undefined),
  };
}

/**
 * Converts exact integers. A column is signed until a number needs the 64th bit. Parquet states the type at the end of
 * the file, and earlier numbers have the same bits in both.
 */
function longInteger(element: SchemaElement): (value: unknown) => bigint {
  return (value) => {
    const number = BigInt(value as string);
    if (number > GREATEST_INT64) element.converted_type = 'UINT_64';
    return number;
  };
}
