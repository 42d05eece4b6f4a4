import { MAX_DECIMAL_DIGITS } from './exact-number.ts';
import type { FieldType, Storage } from './fields.ts';

/** Result of mapping a source's column type: the field's type, and how its values are written in segments. */
interface SourceType {
  type: FieldType;
  storage: Storage;
}

/** Digits of a fixed decimal as the source declares them. Absent: any number of digits. */
export interface DecimalSize {
  precision: number;
  scale: number;
}

const sourceType = (type: FieldType, kind: Exclude<Storage['kind'], 'decimal'>): SourceType => ({
  type,
  storage: { kind },
});

const BOOLEAN = sourceType('boolean', 'boolean');
/** Many programs declare booleans as `tinyint(1)`, and others codes: the values decide. */
const TINYINT = sourceType('boolean', 'tinyint');
const INT32 = sourceType('integer', 'int32');
const INT64 = sourceType('integer', 'int64');
const UINT64 = sourceType('integer', 'uint64');
const FLOAT = sourceType('number', 'float64');
const DATE = sourceType('date', 'date');
const TIMESTAMP = sourceType('datetime', 'timestamp');
const JSON_VALUE = sourceType('json', 'json');
/**
 * All types without an entry below: enum, uuid, time, interval, inet, bytea and blob (as base64), geometry, types of
 * extensions.
 */
const STRING = sourceType('string', 'text');

/** By `pg_type.typname`. A `timestamp` without time zone is read as UTC. */
const POSTGRES: Readonly<Record<string, SourceType>> = {
  bool: BOOLEAN,
  int2: INT32,
  int4: INT32,
  int8: INT64,
  oid: INT64,
  float4: FLOAT,
  float8: FLOAT,
  date: DATE,
  timestamp: TIMESTAMP,
  timestamptz: TIMESTAMP,
  json: JSON_VALUE,
  jsonb: JSON_VALUE,
  hstore: JSON_VALUE,
};

/** By `information_schema.columns.data_type`. MariaDB's `json` is a `longtext` and therefore a string. */
const MYSQL: Readonly<Record<string, SourceType>> = {
  tinyint: INT32,
  smallint: INT32,
  mediumint: INT32,
  int: INT32,
  bigint: INT64,
  year: INT32,
  float: FLOAT,
  double: FLOAT,
  date: DATE,
  datetime: TIMESTAMP,
  timestamp: TIMESTAMP,
  json: JSON_VALUE,
};

/** A size that cannot be staged (too many digits, a negative scale) is staged as a decimal of any length. */
function decimalType(size: DecimalSize | undefined): SourceType {
  if (!size || size.scale < 0) return { type: 'number', storage: { kind: 'decimal' } };
  const precision = Math.max(size.precision, size.scale);
  return {
    type: 'number',
    storage: precision > MAX_DECIMAL_DIGITS ? { kind: 'decimal' } : { kind: 'decimal', precision, scale: size.scale },
  };
}

/**
 * Maps a Postgres type (docs/contract/datasets.md#fields). `name` is `pg_type.typname`, `structure` distinguishes
 * arrays and composites of any name, `size` applies to `numeric`.
 */
export function postgresType(
  name: string,
  structure: 'scalar' | 'array' | 'composite',
  size?: DecimalSize,
): SourceType {
  if (structure !== 'scalar') return JSON_VALUE;
  if (name === 'numeric' || name === 'money') return decimalType(size);
  return (Object.hasOwn(POSTGRES, name) && POSTGRES[name]) || STRING;
}

/**
 * Maps a MySQL or MariaDB type (docs/contract/datasets.md#fields). `name` is the bare name in lower case, e.g.
 * `bigint`; `width` is the display width of `tinyint` and `bit`: `bit(1)` is a boolean, and `tinyint(1)` if all values
 * are 0 or 1.
 */
export function mysqlType(
  name: string,
  attributes: { unsigned?: boolean; width?: number; size?: DecimalSize } = {},
): SourceType {
  if (name === 'decimal' || name === 'numeric') return decimalType(attributes.size);
  if (attributes.width === 1 && name === 'bit') return BOOLEAN;
  if (attributes.width === 1 && name === 'tinyint') return TINYINT;
  if (attributes.unsigned && name === 'bigint') return UINT64;
  if (attributes.unsigned && name === 'int') return INT64;
  return (Object.hasOwn(MYSQL, name) && MYSQL[name]) || STRING;
}
