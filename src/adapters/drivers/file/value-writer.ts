import {
  DuckDBTypeId,
  type DuckDBArrayType,
  type DuckDBDecimalType,
  type DuckDBListType,
  type DuckDBMapType,
  type DuckDBStructType,
  type DuckDBType,
} from '@duckdb/node-api';
import type { Column, FieldType, Storage } from '../../../core/fields.ts';
import { quoteName, quoteText } from './duckdb-session.ts';

/** How values of a column are written, null for null. */
export interface WrittenColumn {
  column: Omit<Column, 'name'>;
  /** SQL of the text, as in segments of CSV. */
  write(value: string): string;
  /** SQL of the value in the type of its storage, as in segments that are tables. */
  store(value: string): string;
}

const T = DuckDBTypeId;
const asText = (value: string) => `cast(${value} as VARCHAR)`;
/** DuckDB writes `(BC)`, other systems `BC`. */
const asDate = (value: string) => `replace(${asText(value)}, ' (BC)', ' BC')`;
const asMoment = (value: string) => asDate(`cast(${value} as TIMESTAMP)`);
const asUtc = (value: string) => `(${value} at time zone 'UTC')`;
const asBase64 = (value: string) => `to_base64(${value})`;

const cast = (type: string) => (value: string) => `cast(${value} as ${type})`;
const unchanged = (value: string) => value;
const toMilliseconds = (value: string) => `date_trunc('milliseconds', cast(${value} as TIMESTAMP))`;
/** DuckDB cuts nanoseconds toward 1970: one before it would be a microsecond later. */
const microsecondsOf = (value: string) =>
  `(cast(${value} as TIMESTAMP)
    - case when isfinite(${value}) and epoch_ns(${value}) % 1000 < 0 then interval 1 microsecond else interval 0 second end)`;

const plain = (
  type: FieldType,
  kind: Exclude<Storage['kind'], 'decimal'>,
  write = asText,
  store: WrittenColumn['store'] = write,
) => ({ type, storage: { kind } as Storage, write, store });
const DIGITS = { type: 'number' as const, storage: { kind: 'decimal' } as Storage, write: asText, store: asText };
const MOMENT = plain('datetime', 'timestamp', asMoment, toMilliseconds);
const INT32 = plain('integer', 'int32', asText, cast('INTEGER'));

/**
 * Field types for DuckDB's types (docs/contract/datasets.md#fields). Types without an entry (enum, uuid, time,
 * interval, bit …) become strings.
 */
const TYPES: Partial<Record<DuckDBTypeId, ReturnType<typeof plain>>> = {
  [T.BOOLEAN]: plain('boolean', 'boolean', asText, unchanged),
  [T.TINYINT]: INT32,
  [T.SMALLINT]: INT32,
  [T.INTEGER]: INT32,
  [T.UTINYINT]: INT32,
  [T.USMALLINT]: INT32,
  [T.UINTEGER]: plain('integer', 'int64', asText, cast('BIGINT')),
  [T.BIGINT]: plain('integer', 'int64', asText, unchanged),
  [T.UBIGINT]: plain('integer', 'uint64', asText, unchanged),
  [T.HUGEINT]: DIGITS,
  [T.UHUGEINT]: DIGITS,
  [T.BIGNUM]: DIGITS,
  // The double with the shortest text of the float.
  [T.FLOAT]: plain('number', 'float64', asText, (value) => `cast(${asText(value)} as DOUBLE)`),
  [T.DOUBLE]: plain('number', 'float64', asText, unchanged),
  [T.DATE]: plain('date', 'date', asDate, unchanged),
  [T.TIMESTAMP]: MOMENT,
  [T.TIMESTAMP_S]: MOMENT,
  [T.TIMESTAMP_MS]: MOMENT,
  [T.TIMESTAMP_NS]: plain(
    'datetime',
    'timestamp',
    (value) => asMoment(microsecondsOf(value)),
    (value) => toMilliseconds(microsecondsOf(value)),
  ),
  [T.TIMESTAMP_TZ]: plain(
    'datetime',
    'timestamp',
    (value) => asMoment(asUtc(value)),
    (value) => toMilliseconds(asUtc(value)),
  ),
  [T.BLOB]: plain('string', 'text', asBase64),
};

const STRING = plain('string', 'text');
const NESTED = new Set<DuckDBTypeId>([T.LIST, T.ARRAY, T.STRUCT, T.MAP, T.UNION, T.VARIANT]);

export function writtenColumn(type: DuckDBType): WrittenColumn {
  const { write, store, ...column } = written(type);
  return { column: { ...column, sourceType: type.alias ?? type.toString() }, write, store };
}

function written(type: DuckDBType): ReturnType<typeof plain> {
  if (type.alias === 'JSON') return plain('json', 'json', asText, unchanged);
  if (NESTED.has(type.typeId)) {
    const asJson = (value: string) => `to_json(${jsonReady(type, value, 0)})`;
    return plain('json', 'json', (value) => asText(asJson(value)), asJson);
  }
  if (type.typeId === T.DECIMAL) {
    const { width, scale } = type as DuckDBDecimalType;
    return { type: 'number', storage: { kind: 'decimal', precision: width, scale }, write: asText, store: unchanged };
  }
  return TYPES[type.typeId] ?? STRING;
}

/**
 * SQL of a value that `to_json` prints like the rest of the service: no NaN, bytes in base64, times in UTC with a `Z`.
 */
function jsonReady(type: DuckDBType, value: string, depth: number): string {
  const item = `x${depth}`;
  switch (type.typeId) {
    case T.LIST:
    case T.ARRAY: {
      const { valueType } = type as DuckDBListType | DuckDBArrayType;
      return `list_transform(${value}, lambda ${item}: ${jsonReady(valueType, item, depth + 1)})`;
    }
    case T.STRUCT: {
      const { entryNames, entryTypes } = type as DuckDBStructType;
      if (entryNames.includes('')) return tuple(entryTypes, value, depth);
      const entries = entryNames.map(
        (name, i) =>
          `${quoteName(name)} := ${jsonReady(entryTypes[i]!, `struct_extract(${value}, ${quoteText(name)})`, depth)}`,
      );
      return `case when ${value} is not null then struct_pack(${entries.join(', ')}) end`;
    }
    case T.MAP: {
      const { keyType, valueType } = type as DuckDBMapType;
      const entry = (part: string) => `struct_extract(${item}, '${part}')`;
      const key = jsonReady(keyType, entry('key'), depth + 1);
      const mapped = jsonReady(valueType, entry('value'), depth + 1);
      const pack = `struct_pack(k := ${key}, v := ${mapped})`;
      return `map_from_entries(list_transform(map_entries(${value}), lambda ${item}: ${pack}))`;
    }
    case T.FLOAT:
    case T.DOUBLE:
      return `case when isfinite(${value}) then ${value} end`;
    case T.BLOB:
      return asBase64(value);
    case T.TIMESTAMP_TZ:
      return isoMoment(asUtc(value));
    case T.TIMESTAMP:
    case T.TIMESTAMP_S:
    case T.TIMESTAMP_MS:
      return isoMoment(`cast(${value} as TIMESTAMP)`);
    case T.TIMESTAMP_NS:
      return isoMoment(microsecondsOf(value));
    default:
      return value;
  }
}

/** SQL of a JSON list of the values of a struct without names, as `row(1, 'x')` returns. */
function tuple(types: readonly DuckDBType[], value: string, depth: number): string {
  const items = types.map((type, i) => jsonReady(type, `struct_extract(${value}, ${i + 1})`, depth));
  return `case when ${value} is not null then json_array(${items.join(', ')}) end`;
}

const isoMoment = (value: string) => `strftime(${value}, '%Y-%m-%dT%H:%M:%S.%gZ')`;
