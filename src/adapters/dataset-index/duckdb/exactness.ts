import type { LoadStatements } from './load-statements.ts';
import type { LoadedField } from './staging-types.ts';

/** A string field with a longer value becomes a `text`. */
export const STRING_CHARACTERS = 8000;

const DECIMAL = /^DECIMAL\((\d+),(\d+)\)$/;
/** Every decimal of this many digits survives a round trip through a double. */
const EXACT_DIGITS = 15;
const EXACT_DECIMAL = { format: 'decimal', keyed: true } as const;
const EXACT_INTEGER = { format: 'int64', split: true } as const;
/** Decimals of this many digits are integers internally; wider ones are slow, and their sums overflow. */
const NARROW_PRECISION = 18;

/**
 * Determines from the values whether a string field is a `text`, and whether numbers would change as JSON numbers. It
 * needs one pass over the columns; undecided ones are checked value by value.
 */
export async function describeValues(
  statements: LoadStatements,
  table: string,
  fields: LoadedField[],
): Promise<LoadedField[]> {
  const asked = fields.flatMap((field) => question(field).map((sql) => ({ field, sql })));
  const [values = []] =
    asked.length === 0 ? [] : await statements.rows(`SELECT ${asked.map(({ sql }) => sql).join(', ')} FROM ${table}`);
  const described: LoadedField[] = [];
  for (const field of fields) {
    const extremes = asked.flatMap((one, i) => (one.field === field ? [values[i]] : []));
    described.push(
      await describe(
        statements,
        table,
        field,
        extremes.map((value) => (value === null ? null : String(value))),
      ),
    );
  }
  return described;
}

function question({ type, sqlType, column }: LoadedField): string[] {
  if (sqlType === 'VARCHAR') return [`max(strlen(${column}))`];
  if (type === 'integer') return sqlType === 'INTEGER' ? [] : [`min(${column})`, `max(${column})`];
  const [, precision] = DECIMAL.exec(sqlType) ?? [];
  return precision && Number(precision) > EXACT_DIGITS ? [`min(${column})`, `max(${column})`] : [];
}

async function describe(
  statements: LoadStatements,
  table: string,
  field: LoadedField,
  extremes: (string | null | undefined)[],
): Promise<LoadedField> {
  const { format: _, keyed: __, split: ___, ...plain } = field;
  const known = extremes.filter((extreme) => extreme != null);
  if (known.length === 0) return plain;
  if (field.type === 'number') return number(statements, table, plain, known);
  if (field.type === 'integer')
    return known.some((extreme) => !Number.isSafeInteger(Number(extreme))) ? { ...plain, ...EXACT_INTEGER } : plain;
  const long =
    Number(known[0]) > STRING_CHARACTERS &&
    (await statements.rows(`SELECT 1 FROM ${table} WHERE length(${field.column}) > ${STRING_CHARACTERS} LIMIT 1`))
      .length > 0;
  return { ...plain, type: long || field.type === 'text' ? 'text' : 'string' };
}

/** Flags decimals that change on the way through a double and its shortest text, which is the form of a JSON number. */
async function number(
  statements: LoadStatements,
  table: string,
  field: LoadedField,
  extremes: string[],
): Promise<LoadedField> {
  const { column, sqlType } = field;
  const [, precision = 0, scale = 0] = (DECIMAL.exec(sqlType) ?? []).map(Number);
  if (sqlType === 'VARCHAR') return { ...field, ...EXACT_DECIMAL };
  const digits = extremes.map((extreme) => extreme.replace(/\D/g, '').replace(/^0+/, '').length);
  const few = digits.every((count) => count <= EXACT_DIGITS);
  if (few && precision <= NARROW_PRECISION) return field;
  if (few && scale <= NARROW_PRECISION)
    return changeType(statements, table, field, `DECIMAL(${NARROW_PRECISION},${scale})`, column);
  const double = `CAST(CAST(${column} AS VARCHAR) AS DOUBLE)`;
  const [spoilt] = await statements.rows(
    `SELECT 1 FROM ${table} WHERE TRY_CAST(CAST(${double} AS VARCHAR) AS ${sqlType}) IS DISTINCT FROM ${column} LIMIT 1`,
  );
  if (spoilt) return { ...field, ...EXACT_DECIMAL };
  // DuckDB's cast of such a long decimal to a double can be wrong in the last bit, so it is cast once here, through
  // its text.
  return changeType(statements, table, field, 'DOUBLE', double);
}

async function changeType(
  statements: LoadStatements,
  table: string,
  field: LoadedField,
  sqlType: string,
  cast: string,
): Promise<LoadedField> {
  await statements.change(`ALTER TABLE ${table} ALTER ${field.column} TYPE ${sqlType} USING ${cast}`);
  return { ...field, sqlType };
}
