import { upstreamFailed } from '../../../core/errors.ts';
import type { Field, FieldType } from '../../../core/fields.ts';
import { settleDigits } from './digits.ts';
import { exactJsonSql } from './exact-json.ts';
import { describeValues, STRING_CHARACTERS } from './exactness.ts';
import type { LoadStatements } from './load-statements.ts';
import { DEFAULT_TYPE } from './staging-types.ts';
import type { LoadedField } from './staging-types.ts';
import { exactText, isoText } from './value-forms.ts';

const SHOWN_CHARACTERS = 200;
const PLAIN_NUMBER = String.raw`'-?\d+(\.\d+)?'`;

/** Conversion of values between two types: SQL of the new value, and of whether it is still the same value. */
interface Conversion {
  cast: string;
  fits: string;
  sqlType?: string;
}

/**
 * Converts fields to their previous types (`updateTypeMapping=false`). A value fits when the cast does not change it.
 *
 * Throws UPSTREAM_FAILED `search-index mapping conflict`, naming field and value, for the first that does not fit.
 */
export async function keepTypes(
  statements: LoadStatements,
  table: string,
  fields: LoadedField[],
  kept: Field[],
): Promise<LoadedField[]> {
  const types = new Map(kept.map((field) => [field.name, field.type]));
  const result: LoadedField[] = [];
  for (const field of fields) {
    const type = types.get(field.name) ?? field.type;
    result.push(type === field.type ? field : await convert(statements, table, field, type));
  }
  return result;
}

async function convert(
  statements: LoadStatements,
  table: string,
  field: LoadedField,
  type: FieldType,
): Promise<LoadedField> {
  const { name, column } = field;
  if (field.type === 'string' && type === 'text') return { ...field, type };
  const { cast, fits, sqlType = DEFAULT_TYPE[type] } = conversion(field, type);
  const [misfit] = await statements.rows(
    `SELECT CAST(${column} AS VARCHAR) FROM ${table} WHERE ${column} IS NOT NULL AND NOT coalesce(${fits}, false) LIMIT 1`,
  );
  if (misfit)
    throw upstreamFailed(
      `search-index mapping conflict: field "${name}" cannot hold "${String(misfit[0]).slice(0, SHOWN_CHARACTERS)}"`,
    );
  if (cast !== column) await statements.change(`ALTER TABLE ${table} ALTER ${column} TYPE ${sqlType} USING ${cast}`);
  const changed = { ...field, type, sqlType };
  if (type === 'number' && sqlType === 'VARCHAR') changed.sqlType = await settleDigits(statements, table, column);
  const [described] = await describeValues(statements, table, [changed]);
  return described!;
}

function conversion(field: LoadedField, type: FieldType): Conversion {
  const { column } = field;
  const text = field.type === 'string' || field.type === 'text';
  const never = { cast: `CAST(NULL AS ${DEFAULT_TYPE[type]})`, fits: 'false' };
  const unchanged = (target: string) => ({
    cast: `TRY_CAST(${column} AS ${target})`,
    fits: `TRY_CAST(TRY_CAST(${column} AS ${target}) AS ${field.sqlType}) = ${column}`,
  });
  switch (type) {
    case 'text':
      return { cast: asText(field), fits: 'true' };
    case 'string':
      return { cast: asText(field), fits: `length(${asText(field)}) <= ${STRING_CHARACTERS}` };
    case 'json':
      return text
        ? { cast: exactJsonSql(`TRY_CAST(${column} AS JSON)`), fits: `json_valid(${column})` }
        : { cast: exactJsonSql(`to_json(${jsonSource(field)})`), fits: 'true' };
    case 'boolean':
      return text ? { cast: `TRY_CAST(${column} AS BOOLEAN)`, fits: `${column} IN ('true', 'false')` } : never;
    case 'integer':
      return text || field.type === 'number' ? unchanged('BIGINT') : never;
    case 'number':
      if (field.type === 'integer')
        return { cast: `CAST(${column} AS DECIMAL(20,0))`, fits: 'true', sqlType: 'DECIMAL(20,0)' };
      return text ? { cast: column, fits: `regexp_full_match(${column}, ${PLAIN_NUMBER})`, sqlType: 'VARCHAR' } : never;
    case 'date':
      return text || field.type === 'datetime' ? unchanged('DATE') : never;
    case 'datetime':
      if (field.type === 'date') return unchanged('TIMESTAMP');
      return text ? fromIso(column) : never;
  }
}

/** Converts texts in the form of a datetime; without an offset they are UTC. */
const fromIso = (column: string): Conversion => ({
  cast: `date_trunc('milliseconds', TRY_CAST(${column} AS TIMESTAMPTZ) AT TIME ZONE 'UTC')`,
  fits: String.raw`regexp_matches(${column}, '^\d{4}-\d\d-\d\d([T ]|$)') AND TRY_CAST(${column} AS TIMESTAMPTZ)
    BETWEEN '0001-01-01'::TIMESTAMPTZ AND '9999-12-31 23:59:59.999'::TIMESTAMPTZ`,
});

const asText = (field: LoadedField) =>
  field.type === 'number'
    ? exactText(field.column)
    : field.type === 'datetime'
      ? isoText(field.column)
      : field.type === 'text' || field.type === 'string'
        ? field.column
        : `CAST(${field.column} AS VARCHAR)`;

const jsonSource = (field: LoadedField) => (field.type === 'datetime' ? isoText(field.column) : field.column);
