import pg from 'pg';
import type { SecretBox } from '../../core/platform.ts';
import type { AdminQuery } from './admin.ts';
import { passwordOf, scramVerifier } from './role-password.ts';

const OWNER_SUFFIX = '_owner';

/** The roles of the workspace with this schema: one reads and writes rows, one defines tables in migrations. */
export const rolesOf = (schema: string): { rows: string; owner: string } => ({
  rows: schema,
  owner: `${schema}${OWNER_SUFFIX}`,
});

/** Returns the schema of a role of an app. */
export const schemaOfRole = (role: string): string => role.replace(new RegExp(`${OWNER_SUFFIX}$`), '');

/** The table with the migrations of an app that have run. */
export const MIGRATIONS_TABLE = '_migrations';

/**
 * Settings that the roles of apps may not change. Superusers set them, and logins with the privilege `set` on them:
 * `temp_file_limit` is the most disk space of the temporary files of one connection, for sorting and joining;
 * `log_min_messages` keeps messages that apps raise out of the server's log.
 */
const ROLE_SETTINGS: Record<string, string> = { temp_file_limit: '1000000kB', log_min_messages: 'fatal' };

/** SQL for the names of `ROLE_SETTINGS` that the current user may set for a role. */
const SETTABLE = `array(
  select name
  from unnest(array[${Object.keys(ROLE_SETTINGS)
    .map((name) => `'${name}'`)
    .join(', ')}]) name
  where has_parameter_privilege(name, 'set'))`;

/** Pause between two checks for connections that end. */
const END_POLL_MS = 20;
const MAX_END_POLLS = 250;

const id = pg.escapeIdentifier;
const text = pg.escapeLiteral;

/**
 * Creates the missing parts of a workspace, and sets the passwords and rights of the roles again: they may have changed
 * their own. `mark` is the comment of the roles, which names the installation.
 */
export async function createWorkspace(
  query: AdminQuery,
  secrets: Pick<SecretBox, 'digest'>,
  schema: string,
  mark: string,
): Promise<void> {
  const { rows, owner } = rolesOf(schema);
  for (const role of [rows, owner]) await createRole(query, role, scramVerifier(passwordOf(secrets, role)), mark);
  const table = `${id(schema)}.${id(MIGRATIONS_TABLE)}`;
  const [{ database }] = (await query('select quote_ident(current_database()) as database')) as [{ database: string }];
  for (const statement of [
    `grant connect on database ${database} to ${id(rows)}, ${id(owner)}`,
    `grant temporary on database ${database} to ${id(owner)}`,
    // The login of the service owns the schema, so that no migration drops it.
    `create schema if not exists ${id(schema)}`,
    `grant usage on schema ${id(schema)} to ${id(rows)}`,
    `grant usage, create on schema ${id(schema)} to ${id(owner)}`,
    `create table if not exists ${table} (filename text collate "C" primary key, checksum text not null,
      applied_at timestamptz not null default clock_timestamp(), duration integer not null default 0)`,
    `grant select on ${table} to ${id(rows)}`,
    `grant select, insert, update (duration) on ${table} to ${id(owner)}`,
    `alter default privileges for role ${id(owner)} in schema ${id(schema)}
      grant select, insert, update, delete on tables to ${id(rows)}`,
    `alter default privileges for role ${id(owner)} in schema ${id(schema)}
      grant usage, select, update on sequences to ${id(rows)}`,
  ])
    await query(statement);
}

/** Creates a role, or resets the settings that it may change itself, and lets the login of the service act for it. */
async function createRole(query: AdminQuery, role: string, verifier: string, mark: string): Promise<void> {
  const [login] = await query(
    `select exists (select from pg_roles where rolname = $1) as "exists",
      (select rolsuper from pg_roles where rolname = current_user) as "isSuperuser",
      ${SETTABLE} as settable,
      current_setting('server_version_num')::int >= 160000 as "hasGrantOptions"`,
    [role],
  );
  if (!login!['exists']) {
    // In one transaction, so that no role is without the mark by which it is found.
    await query('begin');
    await query(`create role ${id(role)} login noinherit nocreatedb nocreaterole password ${text(verifier)}`);
    await query(`comment on role ${id(role)} is ${text(mark)}`);
    await query('commit');
  } else {
    await query(`alter role ${id(role)} login password ${text(verifier)}`);
    await query(`alter role ${id(role)} reset all`);
  }
  for (const name of login!['settable'] as string[])
    await query(`alter role ${id(role)} set ${name} = ${text(ROLE_SETTINGS[name]!)}`);
  if (login!['isSuperuser']) return;
  const options = login!['hasGrantOptions'] ? ' with inherit true, set true' : '';
  await query(`grant ${id(role)} to current_user${options}`);
}

/** Sets when the migrations of a workspace ran: a restore runs them again. */
export async function setTimes(
  query: AdminQuery,
  schema: string,
  migrations: readonly { filename: string; appliedAt: string; duration: number }[],
): Promise<void> {
  await query(
    `update ${id(schema)}.${id(MIGRATIONS_TABLE)} m
      set applied_at = r."appliedAt", duration = r.duration
      from json_to_recordset($1) as r(filename text, "appliedAt" timestamptz, duration integer)
      where m.filename = r.filename`,
    [JSON.stringify(migrations)],
  );
}

/** Returns the mark of the roles of a workspace; null if they do not exist, or the database that the mark names. */
export async function usedMarkOf(query: AdminQuery, schema: string): Promise<string | null> {
  const [role] = await query(
    `select m.mark from pg_roles r, shobj_description(r.oid, 'pg_authid') m (mark)
      where r.rolname = $1 and regexp_replace(m.mark, '^.* in ', '') in (select datname from pg_database)`,
    [rolesOf(schema).rows],
  );
  return (role?.['mark'] as string | undefined) ?? null;
}

/** Returns the schemas of the workspaces whose roles have a mark. */
export async function markedSchemas(query: AdminQuery, mark: string): Promise<string[]> {
  const found = await query(
    `select distinct regexp_replace(r.rolname, $2, '') as schema
    from pg_roles r
    join pg_shdescription d on d.classoid = 'pg_authid'::regclass and d.objoid = r.oid
    where d.description = $1 and r.rolname ~ '^app_[0-9a-f]{20}(_owner)?$'
    order by schema`,
    [mark, `${OWNER_SUFFIX}$`],
  );
  return found.map(({ schema }) => String(schema));
}

/** Deletes a workspace, as far as it exists: ends its connections, and drops its objects, its schema and its roles. */
export async function dropWorkspace(query: AdminQuery, schema: string): Promise<void> {
  const { rows, owner } = rolesOf(schema);
  const found = await query('select rolname as name from pg_roles where rolname = any($1) order by rolname', [
    [rows, owner],
  ]);
  const roles = found.map(({ name }) => id(String(name)));
  for (const role of roles) await query(`alter role ${role} nologin`);
  await endConnections(query, [rows, owner]);
  // Grants on the database and large objects are not in the schema. One role after the other: in one statement, Postgres
  // would drop default privileges twice that both are part of.
  for (const role of roles) await query(`drop owned by ${role} cascade`);
  await query(`drop schema if exists ${id(schema)} cascade`);
  if (roles.length > 0) await query(`drop role ${roles.join(', ')}`);
}

async function endConnections(query: AdminQuery, roles: string[]): Promise<void> {
  for (let poll = 0; poll < MAX_END_POLLS; poll += 1) {
    const open = await query('select pg_terminate_backend(pid) from pg_stat_activity where usename = any($1)', [roles]);
    if (open.length === 0) return;
    await new Promise((resolve) => {
      setTimeout(resolve, END_POLL_MS);
    });
  }
  throw new Error(`The connections of ${roles.join(' and ')} did not end`);
}
