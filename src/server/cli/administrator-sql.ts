import pg from 'pg';
import type { WorkspaceInspection } from '../../core/app-workspace.ts';
import { readConfig, type Config } from '../../core/config.ts';
import { openWorkspaces } from '../backup/workspaces.ts';
import { missingRoleStatements } from '../roles.ts';
import { withClient } from './operator-database.ts';

/** Privileges of the login of `DATABASE_URL`, with names as SQL. */
interface Login {
  name: string;
  database: string;
  mayCreateSchemas: boolean;
  mayCreateRoles: boolean;
}

/**
 * Returns the SQL that an administrator of an own Postgres runs once, so that the service and its apps can start with the
 * login of `DATABASE_URL`: statements, with comments. Empty if nothing is missing. Changes nothing.
 */
export function administratorSql(): Promise<string[]> {
  const config = readConfig();
  return withClient(config, 'dws doctor', (client, { url }) => missingStatements(client, url, config));
}

/** Returns the statements of `administratorSql` for an open connection of the login. */
export async function missingStatements(client: pg.Client, url: string, config: Config): Promise<string[]> {
  const { rows } = await client.query<Login>(
    `select quote_ident(current_user) as name, quote_ident(current_database()) as database,
      rolsuper or rolcreaterole as "mayCreateRoles",
      to_regnamespace('dws') is not null or has_database_privilege(current_database(), 'create') as "mayCreateSchemas"
    from pg_roles where rolname = current_user`,
  );
  const login = rows[0]!;
  const { workspaces, close } = await openWorkspaces(client, url, config);
  try {
    const found = await workspaces.inspect();
    const own = [
      ...(login.mayCreateSchemas ? [] : [`grant create on database ${login.database} to ${login.name};`]),
      ...(login.mayCreateRoles ? [] : (await missingRoleStatements(client)).map((statement) => `${statement};`)),
    ];
    const apps = appStatements(found);
    if (apps.length === 0) return own;
    return [...own, `-- For apps${found.isShared ? '' : ', on the server of APPS_DATABASE_URL'}:`, ...apps];
  } finally {
    await close();
  }
}

/** Returns the missing requirements of the tables of apps on the server of their database. */
function appStatements({ login, exists, database }: WorkspaceInspection): string[] {
  if (login.isSuperuser) return [];
  const name = pg.escapeIdentifier(login.name);
  const statements: string[] = [];
  if (!login.mayCreateRoles) statements.push(`alter role ${name} createrole;`);
  if (!exists && !login.mayCreateDatabases)
    statements.push(`create database ${pg.escapeIdentifier(database)} owner ${name};`);
  if (exists && !login.ownsDatabase)
    statements.push(`alter database ${pg.escapeIdentifier(database)} owner to ${name};`);
  const parameters = [
    ...(login.mayLimitTempFiles ? [] : ['temp_file_limit']),
    ...(login.mayLimitLog ? [] : ['log_min_messages']),
  ];
  if (parameters.length > 0) statements.push(`grant set on parameter ${parameters.join(', ')} to ${name};`);
  return statements;
}
