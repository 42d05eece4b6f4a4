import type { FieldType, Storage } from './fields.ts';

/** What a source's type becomes: the field's type and how its values are written in segments. */
export interface SourceType {
  type: FieldType;
  storage: Storage;
}

/** Digits of a fixed decimal as the source declares them. Absent: any number of digits. */
export interface DecimalSize {
  precision: number;
  scale: number;
}

const plain = (type: FieldType, kind: Exclude<Storage['kind'], 'decimal'>): SourceType => ({ type, storage: { kind } });

const BOOLEAN = plain('boolean', 'boolean');
const INT32 = plain('integer', 'int32');
const INT64 = plain('integer', 'int64');
const UINT64 = plain('integer', 'uint64');
const FLOAT = plain('number', 'float64');
const DATE = plain('date', 'date');
const TIMESTAMP = plain('datetime', 'timestamp');
const JSON_VALUE = plain('json', 'json');
/** Everything without an entry below: enum, uuid, time, interval, inet, bytea and blob (as base64), geometry, types of extensions. */
const STRING = plain('string', 'text');

/** By `pg_type.typname`. A `timestamp` without zone is taken as UTC. */
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

/** By the word of `information_schema.columns.data_type`. MariaDB's `json` is a `longtext` and thereby a string. */
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

/** DuckDB's and Elasticsearch's fixed decimals end here. */
const MAX_PRECISION = 38;

/** A size that the staging cannot hold (too many digits, a negative scale) is staged as digits of any length. */
function decimal(size: DecimalSize | undefined): SourceType {
  if (!size || size.scale < 0) return { type: 'number', storage: { kind: 'decimal' } };
  const precision = Math.max(size.precision, size.scale);
  return {
    type: 'number',
    storage: precision > MAX_PRECISION ? { kind: 'decimal' } : { kind: 'decimal', precision, scale: size.scale },
  };
}

/**
 * The one place that says what Postgres types become (contract, section 7).
 * `name` is `pg_type.typname`; `structure` tells arrays and composites of any name apart; `size` is numeric's.
 */
export function postgresType(
  name: string,
  structure: 'scalar' | 'array' | 'composite',
  size?: DecimalSize,
): SourceType {
  if (structure !== 'scalar') return JSON_VALUE;
  if (name === 'numeric' || name === 'money') return decimal(size);
  return (Object.hasOwn(POSTGRES, name) && POSTGRES[name]) || STRING;
}

/**
 * The one place that says what MySQL and MariaDB types become (contract, section 7). `name` is the bare lower-case word, e.g. `bigint`;
 * `width` the display width of `tinyint` and `bit`: of width 1 they are booleans, as every driver reads them.
 */
export function mysqlType(
  name: string,
  about: { unsigned?: boolean; width?: number; size?: DecimalSize } = {},
): SourceType {
  if (name === 'decimal' || name === 'numeric') return decimal(about.size);
  if (about.width === 1 && (name === 'tinyint' || name === 'bit')) return BOOLEAN;
  if (about.unsigned && name === 'bigint') return UINT64;
  if (about.unsigned && name === 'int') return INT64;
  return (Object.hasOwn(MYSQL, name) && MYSQL[name]) || STRING;
}
