import { SEALED_COLUMNS } from '../../src/core/sealed-columns.ts';
import { runSql } from './run-sql.ts';

const SEALED = `'(^|["{,])v1[.][0-9a-f]{16}[.]'`;

interface Column extends Record<string, unknown> {
  table: string;
  column: string;
  type: string;
}

/**
 * Returns the columns of a database with sealed values that `SEALED_COLUMNS` lacks, as it names them. Of JSON, the keys of
 * objects, which are registered when a key below them is.
 */
export async function findUnregistered(databaseUrl: string): Promise<string[]> {
  const columns = (await runSql(
    databaseUrl,
    `select c.relname as "table", a.attname as "column", format_type(a.atttypid, null) as type
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'dws'::regnamespace and c.relkind = 'r'
       and a.atttypid in ('text'::regtype, 'text[]'::regtype, 'jsonb'::regtype, 'json'::regtype, 'bytea'::regtype)`,
  )) as Column[];
  const found = (await runSql(databaseUrl, columns.map(placesOf).join(' union all '))) as { place: string }[];
  const isRegistered = (place: string) => SEALED_COLUMNS.some((one) => `${one}.`.startsWith(`${place}.`));
  return [...new Set(found.map(({ place }) => place))].filter((place) => !isRegistered(place)).toSorted();
}

/** Returns SQL for the places of a column that have sealed values. */
function placesOf({ table, column, type }: Column): string {
  const name = `${table}.${column}`;
  if (type === 'bytea')
    return `(select '${name}' as place from dws.${table}
      where encode(substring("${column}" from 1 for 9), 'hex') in (
        select '01' || substr(name, 5) from dws.setting where starts_with(name, 'key:')) limit 1)`;
  if (type !== 'jsonb')
    return `(select '${name}' as place from dws.${table} where "${column}"::text ~ ${SEALED} limit 1)`;
  return `(select distinct concat_ws('.', '${name}', e.key) as place
    from dws.${table}
    left join lateral jsonb_each(case when jsonb_typeof("${column}") = 'object' then "${column}" end) e on true
    where coalesce(e.value, "${column}")::text ~ ${SEALED})`;
}
