import type { ConnectionTest, SourceTable } from '../../../core/row-source.ts';
import type { Session } from './session.ts';

const MAX_TABLES = 5000;

/** Tables and views that the role can read, without system tables. Partitions are represented by their parent. */
const SCHEMA_SQL = `
  select n.nspname as schema, c.relname as name, case when c.relkind in ('v', 'm') then 'view' else 'table' end as type,
    (select pg_catalog.json_agg(pg_catalog.json_build_object('name', a.attname, 'type', pg_catalog.format_type(a.atttypid, a.atttypmod),
        'nullable', not a.attnotnull, 'primaryKey', coalesce(a.attnum = any(p.conkey), false)) order by a.attnum)
      from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  left join pg_catalog.pg_constraint p on p.conrelid = c.oid and p.contype = 'p'
  where c.relkind in ('r', 'p', 'f', 'v', 'm') and not c.relispartition
    and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
    and pg_catalog.has_schema_privilege(n.oid, 'usage') and pg_catalog.has_any_column_privilege(c.oid, 'select')
  order by 1, 2 limit ${MAX_TABLES}`;

/** Returns the tables that the role can read, by schema and name; at most 5000. */
export async function readSchema(session: Session): Promise<SourceTable[]> {
  const rows = await session.query<{ schema: string; name: string; type: SourceTable['type']; columns: string | null }>(
    SCHEMA_SQL,
  );
  return rows.map((row) => ({ ...row, columns: JSON.parse(row.columns ?? '[]') as SourceTable['columns'] }));
}

/** `writes`: on a table that is not the system's. `creates`: in the database or one of its schemas. */
const ROLE_SQL = `
  select pg_catalog.current_setting('server_version') as version, r.rolname as role, r.rolsuper as superuser,
    exists (select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'f') and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
        and pg_catalog.has_table_privilege(c.oid, 'insert, update, delete, truncate')) as writes,
    pg_catalog.has_database_privilege(pg_catalog.current_database(), 'create') or exists (select from pg_catalog.pg_namespace n
      where n.nspname !~ '^pg_' and pg_catalog.has_schema_privilege(n.oid, 'create')) as creates
  from pg_catalog.pg_roles r where r.rolname = current_user`;

type RoleRow = Record<'version' | 'role' | 'superuser' | 'writes' | 'creates', string>;

/** Returns the server's version, and a warning for every privilege that a source's role does not need. */
export async function inspectRole(
  session: Session,
  encrypted: boolean,
): Promise<Pick<ConnectionTest, 'version' | 'warnings'>> {
  const [row] = await session.query<RoleRow>(ROLE_SQL);
  const { version, role, superuser, writes, creates } = row!;
  const warnings: string[] = [];
  if (superuser === 't') warnings.push(`The role "${role}" is a superuser; use one that may only read`);
  else if (writes === 't') warnings.push(`The role "${role}" can write to tables; use one that may only read`);
  else if (creates === 't') warnings.push(`The role "${role}" can create objects; use one that may only read`);
  if (!encrypted) warnings.push('The connection is not encrypted');
  return { version: `PostgreSQL ${version}`, warnings };
}
