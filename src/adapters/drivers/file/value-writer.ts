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

/** How values of a column are written in segments: SQL of the text, null for null. */
export interface WrittenColumn {
  column: Omit<Column, 'name'>;
  write(value: string): string;
}

const T = DuckDBTypeId;
const asText = (value: string) => `cast(${value} as VARCHAR)`;
/** DuckDB writes `(BC)`, other systems `BC`. */
const asDate = (value: string) => `replace(${asText(value)}, ' (BC)', ' BC')`;
const asMoment = (value: string) => asDate(`cast(${value} as TIMESTAMP)`);
const asUtc = (value: string) => `(${value} at time zone 'UTC')`;
const asBase64 = (value: string) => `to_base64(${value})`;

const plain = (type: FieldType, kind: Exclude<Storage['kind'], 'decimal'>, write = asText) => ({
  type,
  storage: { kind } as Storage,
  write,
});
const DIGITS = { type: 'number' as const, storage: { kind: 'decimal' } as Storage, write: asText };
const MOMENT = plain('datetime', 'timestamp', asMoment);

/**
 * Field types for DuckDB's types (docs/contract.md#fields). Types without an entry (enum, uuid, time, interval, bit …)
 * become strings.
 */
const TYPES: Partial<Record<DuckDBTypeId, ReturnType<typeof plain>>> = {
  [T.BOOLEAN]: plain('boolean', 'boolean'),
  [T.TINYINT]: plain('integer', 'int32'),
  [T.SMALLINT]: plain('integer', 'int32'),
  [T.INTEGER]: plain('integer', 'int32'),
  [T.UTINYINT]: plain('integer', 'int32'),
  [T.USMALLINT]: plain('integer', 'int32'),
  [T.UINTEGER]: plain('integer', 'int64'),
  [T.BIGINT]: plain('integer', 'int64'),
  [T.UBIGINT]: plain('integer', 'uint64'),
  [T.HUGEINT]: DIGITS,
  [T.UHUGEINT]: DIGITS,
  [T.BIGNUM]: DIGITS,
  [T.FLOAT]: plain('number', 'float64'),
  [T.DOUBLE]: plain('number', 'float64'),
  [T.DATE]: plain('date', 'date', asDate),
  [T.TIMESTAMP]: MOMENT,
  [T.TIMESTAMP_S]: MOMENT,
  [T.TIMESTAMP_MS]: MOMENT,
  [T.TIMESTAMP_NS]: MOMENT,
  [T.TIMESTAMP_TZ]: plain('datetime', 'timestamp', (value) => asMoment(asUtc(value))),
  [T.BLOB]: plain('string', 'text', asBase64),
};

const STRING = plain('string', 'text');
const NESTED = new Set<DuckDBTypeId>([T.LIST, T.ARRAY, T.STRUCT, T.MAP, T.UNION, T.VARIANT]);

export function writtenColumn(type: DuckDBType): WrittenColumn {
  const { write, ...column } = written(type);
  return { column: { ...column, sourceType: type.alias ?? type.toString() }, write };
}

function written(type: DuckDBType): ReturnType<typeof plain> {
  if (type.alias === 'JSON') return plain('json', 'json');
  if (NESTED.has(type.typeId)) return plain('json', 'json', (value) => asText(`to_json(${jsonReady(type, value, 0)})`));
  if (type.typeId === T.DECIMAL) {
    const { width, scale } = type as DuckDBDecimalType;
    return { type: 'number', storage: { kind: 'decimal', precision: width, scale }, write: asText };
  }
  return TYPES[type.typeId] ?? STRING;
}

/**
 * SQL of a value that `to_json` prints as the rest of the service would: no NaN, bytes in base64, times in UTC with a
 * `Z`.
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
    case T.TIMESTAMP_NS:
      return isoMoment(`cast(${value} as TIMESTAMP)`);
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

/** Returns whether a written value may contain characters with a meaning in the dialect. */
const mayNeedQuotes = ({ storage }: Omit<Column, 'name'>) => storage.kind === 'text' || storage.kind === 'json';

/**
 * SQL of a whole record in the common CSV dialect. Texts are always quoted, so that empty ones, `\N` and line breaks
 * are preserved.
 */
export function recordOf(columns: WrittenColumn[], names: string[]): string {
  const values = columns.map(({ column, write }, i) => {
    const text = write(names[i]!);
    return `coalesce(${mayNeedQuotes(column) ? `'"' || replace(${text}, '"', '""') || '"'` : text}, '\\N')`;
  });
  return `concat(${values.join(`, ',', `)}, chr(10))`;
}
