import type { ConnectionTest, SourceTable } from '../../../core/row-source.ts';
import { productOf, type Session } from './session.ts';

const MAX_TABLES = 5000;

/**
 * Tables and views of the datasource's database that the role can read, one row per column. MariaDB lists sequences as
 * tables.
 */
const SCHEMA_SQL = `
  select t.table_schema, t.table_name, case when t.table_type like '%VIEW' then 'view' else 'table' end,
    c.column_name, c.column_type, c.is_nullable = 'YES', c.column_key = 'PRI'
  from (select table_schema, table_name, table_type from information_schema.tables
    where table_schema = database() and table_type <> 'SEQUENCE' order by table_name limit ${MAX_TABLES}) as t
  left join information_schema.columns c on c.table_schema = t.table_schema and c.table_name = t.table_name
  order by t.table_name, c.ordinal_position`;

/** Returns the tables that the role can read, by name; at most 5000. */
export async function readSchema(session: Session): Promise<SourceTable[]> {
  const tables = new Map<string, SourceTable>();
  for (const [schema, name, type, column, word, nullable, primaryKey] of await session.query(SCHEMA_SQL)) {
    const table = tables.get(name!) ?? { schema: schema!, name: name!, type: type as SourceTable['type'], columns: [] };
    tables.set(name!, table);
    if (column !== null)
      table.columns.push({ name: column!, type: word!, nullable: nullable === '1', primaryKey: primaryKey === '1' });
  }
  return [...tables.values()];
}

const GRANT = /^GRANT (.+?) ON /;
const EVERYTHING = /\bALL PRIVILEGES ON \*\.\*|\bSUPER\b/;
const WRITES = /\b(?:ALL PRIVILEGES|INSERT|UPDATE|DELETE|DELETE HISTORY)\b/;
const CREATES = /(?:^|, )(?:CREATE|ALTER|DROP|INDEX|TRIGGER|EVENT)\b/;
const FILES = /\bFILE\b/;

/** Returns a warning for every privilege that a source's role does not need, from the list of `SHOW GRANTS`. */
function warningsOf(role: string, grants: string[]): string[] {
  // PROXY and granted roles give no privilege by themselves.
  const rights = grants.map((grant) => GRANT.exec(grant)?.[1] ?? '').join(', ');
  const warn = (what: string) => `The role "${role}" ${what}; use one that may only read`;
  if (grants.some((grant) => EVERYTHING.test(grant))) return [warn('may do everything')];
  const warnings: string[] = [];
  if (FILES.test(rights)) warnings.push(warn('can read and write files of the server'));
  if (WRITES.test(rights)) warnings.push(warn('can write to tables'));
  else if (CREATES.test(rights)) warnings.push(warn('can change the schema'));
  return warnings;
}

/** Returns the server's version, and a warning for every privilege that a source's role does not need. */
export async function inspectRole(
  session: Session,
  encrypted: boolean,
): Promise<Pick<ConnectionTest, 'version' | 'warnings'>> {
  const [[version, role, active]] = (await session.query('select version(), current_user(), current_role()')) as [
    [string, string, string | null],
  ];
  const { product, number } = productOf(version);
  // MariaDB includes the privileges of active roles; MySQL requires their names, as it prints them.
  const roles =
    product === 'MySQL' && active !== null && active !== 'NONE' ? ` for current_user() using ${active}` : '';
  const grants = (await session.query(`show grants${roles}`)).map(([grant]) => grant!);
  return {
    version: `${product} ${number}`,
    warnings: [...warningsOf(role, grants), ...(encrypted ? [] : ['The connection is not encrypted'])],
  };
}
