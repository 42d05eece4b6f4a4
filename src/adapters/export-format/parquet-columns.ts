import type { SchemaElement } from 'hyparquet-writer';
import type { Field } from '../../core/fields.ts';

const DAY = 86_400_000;
const GREATEST_INT64 = 2n ** 63n - 1n;

/** How the values of a field are stored in Parquet. */
export interface ParquetColumn {
  name: string;
  element: SchemaElement;
  /**
   * Whether minimum and maximum of each group are written, for readers that skip groups. Those of texts would stay in
   * memory to the end.
   */
  statistics: boolean;
  /** Converts a value to Parquet's form; null for a missing one. */
  convert(value: unknown): unknown;
}

type Kind = Omit<ParquetColumn, 'name' | 'element'> & { element: Omit<SchemaElement, 'name'> };

const TEXT: Kind = {
  element: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  statistics: false,
  convert: (value) => value,
};

const KINDS: Record<Field['type'], Kind> = {
  string: TEXT,
  text: TEXT,
  json: { ...TEXT, element: { type: 'BYTE_ARRAY', converted_type: 'JSON', logical_type: { type: 'JSON' } } },
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
 * Returns the column of a field. All columns are nullable. Exact decimals are stored as text, exact integers as 64
 * bits.
 */
export function columnOf(field: Field): ParquetColumn {
  const kind = field.format === 'decimal' ? TEXT : KINDS[field.type];
  const column = {
    name: field.name,
    ...kind,
    element: { ...kind.element, name: field.name, repetition_type: 'OPTIONAL' },
  } satisfies ParquetColumn;
  return field.format === 'int64' ? { ...column, convert: longInteger(column.element) } : column;
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
