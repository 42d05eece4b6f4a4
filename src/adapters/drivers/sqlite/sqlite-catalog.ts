import type { DatabaseSync } from 'node:sqlite';
import { badInput } from '../../../core/errors.ts';
import type { SourceTable } from '../../../core/row-source.ts';

const MAX_TABLES = 5000;

const TABLES_SQL = `select name, type
  from sqlite_schema
  where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'
  order by name
  limit ${MAX_TABLES}`;
const COLUMNS_SQL = 'select name, type, "notnull", pk from pragma_table_xinfo(?) where hidden <> 1 order by cid';

/** Returns the tables and views of the file. A view of a missing table has no columns. */
export function listTables(database: DatabaseSync): SourceTable[] {
  const tables = database.prepare(TABLES_SQL).all() as unknown as { name: string; type: SourceTable['type'] }[];
  const columns = database.prepare(COLUMNS_SQL);
  return tables.map(({ name, type }) => ({
    schema: 'main',
    name,
    type,
    columns: columnsOf(() => columns.all(name) as unknown as ColumnRow[]),
  }));
}

interface ColumnRow {
  name: string;
  type: string;
  notnull: number;
  pk: number;
}

function columnsOf(read: () => ColumnRow[]): SourceTable['columns'] {
  try {
    return read().map(({ name, type, notnull, pk }) => ({ name, type, nullable: notnull === 0, primaryKey: pk > 0 }));
  } catch {
    return [];
  }
}

/** Reads the whole file once. Throws BAD_USER_INPUT for a damaged file. */
export function inspectFile(database: DatabaseSync): { version: string; warnings: string[] } {
  const version = database.prepare('select sqlite_version() as version').get() as { version: string };
  const check = database.prepare('pragma quick_check(1)').get() as { quick_check: string };
  if (check.quick_check !== 'ok') throw badInput(`The SQLite file is broken: ${check.quick_check}`);
  return { version: `SQLite ${version.version}`, warnings: [] };
}
