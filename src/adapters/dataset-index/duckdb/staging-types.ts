import type { IndexedField } from '../../../core/dataset-index.ts';
import type { Column, FieldType, Storage } from '../../../core/fields.ts';

/** A field during a load: what DuckDB keeps it as. */
export interface LoadedField extends IndexedField {
  sqlType: string;
}

/** A column of the source on its way in. */
export interface SourceColumn extends LoadedField {
  /** The type that `read_csv` reads. What it would misread (a date BC loses its era, a NaN fails a decimal) is read as text and cast by `select`. */
  readType: string;
  /** SQL from what was read to what is kept. */
  select: string;
  /** The temporary sequence that counts values which became null because they have no JSON form; undefined when all have one. */
  lost?: string;
  /** Digits of any length, staged as text, whose type is known when all were seen. */
  digits: boolean;
}

/** DuckDB's type for a field of which no value decides: a vanished column, a kept type. */
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
  int32: 'INTEGER',
  int64: 'BIGINT',
  uint64: 'UBIGINT',
  text: 'VARCHAR',
  json: 'JSON',
} as const;
const NOT_FINITE = `('NaN', 'Infinity', '-Infinity')`;

/** The source's columns with their physical names `c0` … `cN` and their types. Names stay as spelt; a repeated one becomes `id_2`. */
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
      ...staging(storage, column),
    };
  });
}

/** How one storage is read, kept, and stripped of the values without a JSON form. */
function staging(storage: Storage, column: string): Pick<SourceColumn, 'readType' | 'sqlType' | 'select' | 'lost'> {
  const sqlType = sqlTypeOf(storage);
  const lost = `lost_${column}`;
  const guarded = (readType: string, fine: string, kept: string) => ({
    readType,
    sqlType,
    lost,
    select: `CASE WHEN ${fine} THEN ${kept} WHEN ${column} IS NOT NULL AND nextval('${lost}') < 0 THEN NULL END`,
  });
  switch (storage.kind) {
    case 'decimal':
      return guarded('VARCHAR', `${column} NOT IN ${NOT_FINITE}`, `CAST(${column} AS ${sqlType})`);
    case 'float64':
      return guarded('DOUBLE', `isfinite(${column})`, column);
    case 'date':
      return guarded('VARCHAR', hasDateForm(column), `CAST(${column} AS DATE)`);
    case 'timestamp':
      return guarded('VARCHAR', hasDateForm(column), `date_trunc('milliseconds', CAST(${column} AS TIMESTAMP))`);
    // A document that is just `null` is a missing value, as it is in JSON.
    case 'json':
      return { readType: sqlType, sqlType, select: `nullif(${column}, 'null')` };
    default:
      return { readType: sqlType, sqlType, select: column };
  }
}

/** Years 1 to 9999 have the form that dates travel in; `infinity`, years BC and beyond, MySQL's zero dates have none. Text that is no date at all is left for the cast to refuse. */
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
