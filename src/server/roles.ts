import pg from 'pg';

/** The two roles that the service's pools take; the migrator owns the tables and is neither (architecture, "Tenants"). */
export const ROLES = ['dws_app', 'dws_system'] as const;

const createRole = (role: string, user: string, withSet: boolean) =>
  `create role ${role} nologin nosuperuser nobypassrls noinherit;\ngrant ${role} to ${pg.escapeIdentifier(user)}${withSet ? ' with set true' : ''};`;

/** Makes the roles that are missing and lets the migrator take them; without the right to, the error says which SQL an administrator should run. */
export async function ensureRoles(client: pg.Client): Promise<void> {
  const { rows: [me] } = await client.query<{ user: string; version: number }>(`select current_user as user, current_setting('server_version_num')::int as version`);
  for (const role of ROLES) {
    const { rows } = await client.query(`select pg_has_role(current_user, oid, 'MEMBER') as member from pg_roles where rolname = $1`, [role]);
    if (rows[0]?.member) continue;
    const sql = createRole(role, me!.user, me!.version >= 160_000);
    await client.query(rows.length ? sql.slice(sql.indexOf('grant')) : sql).catch(async (error: { code?: string; message: string }) => {
      if (error.code === '42710' || error.code === '23505') return ensureRoles(client);
      throw new Error(`The role ${role} is missing and ${me!.user} may not create it (${error.message}). Let an administrator of the database run:\n${ROLES.map((name) => createRole(name, me!.user, me!.version >= 160_000)).join('\n')}`);
    });
  }
  await client.query(`grant usage on schema dws to ${ROLES.join(', ')}`);
}

/** Refuses to serve when row-level security would not hold for a role. */
export async function checkRoles(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select r.rolname from pg_roles r where r.rolname = any($1)
    and (r.rolsuper or r.rolbypassrls or exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'dws' and c.relowner = r.oid))`, [ROLES]);
  if (rows.length) throw new Error(`The role ${rows[0].rolname} is a superuser, bypasses row-level security or owns tables of the service; it must be none of these`);
}
