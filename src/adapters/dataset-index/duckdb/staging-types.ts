import type { IndexedField } from '../../../core/dataset-index.ts';
import type { Column, FieldType, Storage } from '../../../core/fields.ts';
import { exactJsonSql } from './exact-json.ts';

/** A field during a load, with its type in DuckDB. */
export interface LoadedField extends IndexedField {
  sqlType: string;
}

/** A column of the source during staging. */
export interface SourceColumn extends LoadedField {
  /**
   * Type for `read_csv`. Values that it would misread (a date BC loses its era, a NaN fails a decimal) are read as
   * text and cast by `select`.
   */
  readType: string;
  /** SQL from the read value to the stored value. */
  select: string;
  /**
   * Temporary sequence that counts values which became null because they have no JSON form; undefined when all have
   * one.
   */
  lost?: string;
  /** Condition for stored values that have a JSON form; undefined when all have one. */
  hasForm?: string;
  /** Whether the column has digits of any length, staged as text, whose type is determined when all are read. */
  digits: boolean;
  /** Whether the column becomes one of booleans if all values are 0 or 1. */
  maybeBoolean: boolean;
}

/** DuckDB's types for fields whose type does not depend on values: a missing column, a retained type. */
export const DEFAULT_TYPE: Record<FieldType, string> = {
  string: 'VARCHAR',
  text: 'VARCHAR',
  integer: 'BIGINT',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  date: 'DATE',
  datetime: 'TIMESTAMP',
  json: 'JSON',
};

const PLAIN = {
  boolean: 'BOOLEAN',
  tinyint: 'INTEGER',
  int32: 'INTEGER',
  int64: 'BIGINT',
  uint64: 'UBIGINT',
  text: 'VARCHAR',
  json: 'JSON',
} as const;
const NOT_FINITE = `('NaN', 'Infinity', '-Infinity')`;

/**
 * Returns the source's columns with their physical names `c0` … `cN` and types. Names are unchanged; a repeated one
 * becomes `id_2`.
 */
export function stageColumns(columns: Column[]): SourceColumn[] {
  const taken = new Set(columns.map(({ name }) => name));
  const seen = new Set<string>();
  return columns.map(({ name: wanted, type, storage }, i) => {
    let name = wanted;
    for (let n = 2; seen.has(name) || (name !== wanted && taken.has(name)); n++) name = `${wanted}_${n}`;
    seen.add(name);
    const column = `c${i}`;
    return {
      name,
      type,
      column,
      digits: storage.kind === 'decimal' && storage.precision === undefined,
      maybeBoolean: storage.kind === 'tinyint',
      ...staging(storage, column),
    };
  });
}

/** Returns how one storage type is read, stored, and stripped of values without a JSON form. */
function staging(
  storage: Storage,
  column: string,
): Pick<SourceColumn, 'readType' | 'sqlType' | 'select' | 'lost' | 'hasForm'> {
  const sqlType = sqlTypeOf(storage);
  const lost = `lost_${column}`;
  const guarded = (readType: string, fine: string, kept: string, hasForm?: string) => ({
    readType,
    sqlType,
    lost,
    hasForm,
    select: `CASE WHEN ${fine} THEN ${kept} WHEN ${column} IS NOT NULL AND nextval('${lost}') < 0 THEN NULL END`,
  });
  switch (storage.kind) {
    case 'decimal':
      return guarded('VARCHAR', `${column} NOT IN ${NOT_FINITE}`, `CAST(${column} AS ${sqlType})`);
    case 'float64':
      return guarded('DOUBLE', `isfinite(${column})`, column, `isfinite(${column})`);
    case 'date':
      return guarded(
        'VARCHAR',
        hasDateForm(column),
        `CAST(${column} AS DATE)`,
        `${column} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'`,
      );
    case 'timestamp':
      return guarded(
        'VARCHAR',
        hasDateForm(column),
        `date_trunc('milliseconds', CAST(${column} AS TIMESTAMP))`,
        `${column} >= TIMESTAMP '0001-01-01' AND ${column} < TIMESTAMP '10000-01-01'`,
      );
    // A document that is only `null` is a missing value, as in JSON.
    case 'json':
      return {
        readType: sqlType,
        sqlType,
        select: `nullif(${exactJsonSql(column)}, 'null')`,
        hasForm: `${column} <> 'null'`,
      };
    default:
      return { readType: sqlType, sqlType, select: column };
  }
}

/**
 * Returns the condition for dates that have a JSON form: the years 1 to 9999, without `infinity` and MySQL's zero
 * dates. A text that is not a date is left to the cast, which fails.
 */
const hasDateForm = (column: string) =>
  `NOT (${column} < '0001' OR ${column}[5] BETWEEN '0' AND '9' OR ends_with(${column}, 'BC') OR ${column} IN ('infinity', '-infinity'))`;

function sqlTypeOf(storage: Storage): string {
  switch (storage.kind) {
    case 'decimal':
      return storage.precision === undefined ? 'VARCHAR' : `DECIMAL(${storage.precision},${storage.scale ?? 0})`;
    case 'float64':
      return 'DOUBLE';
    case 'date':
      return 'DATE';
    case 'timestamp':
      return 'TIMESTAMP';
    default:
      return PLAIN[storage.kind];
  }
}
