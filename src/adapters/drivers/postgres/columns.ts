import type { FieldDef } from 'pg';
import { distinctNames, type Column } from '../../../core/fields.ts';
import { postgresType, type DecimalSize } from '../../../core/source-types.ts';
import type { Session } from './session.ts';

/** A column, and a function from the SQL of its value to the SQL of its text in segments. */
export interface WrittenColumn {
  column: Column;
  write(value: string): string;
}

type TypeRow = { word: string; typname: string; structure: 'scalar' | 'array' | 'composite' };

/** Decodes the type modifier of `numeric(p,s)`: 16 bits of precision above 11 bits of signed scale. */
function decimalSize(modifier: number): DecimalSize | undefined {
  if (modifier < 4) return undefined;
  const packed = modifier - 4;
  return { precision: (packed >> 16) & 0xffff, scale: ((packed & 0x7ff) ^ 1024) - 1024 };
}

/**
 * Bytes, structures and money have a form of their own. All others stay as Postgres writes them, including NaN and
 * `infinity`, which the reader counts.
 */
function writer({ typname, structure }: TypeRow): WrittenColumn['write'] {
  if (structure !== 'scalar' || typname === 'hstore') return (value) => `pg_catalog.to_json(${value})`;
  if (typname === 'bytea') return (value) => `pg_catalog.replace(pg_catalog.encode(${value}, 'base64'), E'\\n', '')`;
  if (typname === 'money') return (value) => `${value}::numeric`;
  return (value) => value;
}

const TYPES_SQL = `
  select pg_catalog.format_type(w.oid, nullif(w.modifier, -1)) as word, t.typname,
    case when t.typcategory = 'A' then 'array' when t.typtype = 'c' or t.typname = 'record' then 'composite' else 'scalar' end as structure
  from rows from (pg_catalog.unnest($1::oid[]), pg_catalog.unnest($2::int[])) with ordinality as w(oid, modifier, n)
  join pg_catalog.pg_type t on t.oid = w.oid order by w.n`;

/** Returns the columns of a parsed statement (docs/contract/datasets.md#fields) and how each is written. */
export async function describeColumns(session: Session, fields: FieldDef[]): Promise<WrittenColumn[]> {
  const types = await session.query<TypeRow>(TYPES_SQL, [
    `{${fields.map((field) => field.dataTypeID).join()}}`,
    `{${fields.map((field) => field.dataTypeModifier).join()}}`,
  ]);
  const names = distinctNames(fields.map((field) => field.name));
  return types.map((row, i) => {
    const size = row.typname === 'numeric' ? decimalSize(fields[i]!.dataTypeModifier) : undefined;
    return {
      column: { name: names[i]!, ...postgresType(row.typname, row.structure, size), sourceType: row.word },
      write: writer(row),
    };
  });
}
