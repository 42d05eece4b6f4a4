import type pg from 'pg';

/** The two roles that the service's pools take; the migrator owns the tables and is neither (architecture, "Tenants"). */
export const ROLES = ['dws_app', 'dws_system'] as const;

/** The statements that make what is missing: the roles, and the right of the migrator to take them. */
async function missingRoleStatements(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{
    role: string;
    exists: boolean;
    member: boolean;
    grantee: string;
    version: number;
  }>(
    `select wanted.role, r.oid is not null as exists, coalesce(pg_has_role(current_user, r.oid, 'MEMBER'), false) as member, quote_ident(current_user) as grantee,
      current_setting('server_version_num')::int as version from unnest($1::text[]) as wanted (role) left join pg_roles r on r.rolname = wanted.role`,
    [ROLES],
  );
  return rows
    .filter(({ member }) => !member)
    .flatMap(({ role, exists, grantee, version }) => [
      ...(exists ? [] : [`create role ${role} nologin nosuperuser nobypassrls noinherit`]),
      // Before 16 membership alone lets a role be taken.
      `grant ${role} to ${grantee}${version >= 160_000 ? ' with set true' : ''}`,
    ]);
}

/** Makes the roles that are missing and lets the migrator take them; without the right to, the error says which SQL an administrator should run. */
export async function ensureRoles(client: pg.Client): Promise<void> {
  const statements = await missingRoleStatements(client);
  for (const statement of statements) {
    await client.query(statement).catch((error: { code?: string; message: string }) => {
      // Roles belong to the whole server: a service in another database may have made them just now.
      if (error.code === '42710' || error.code === '23505') return;
      throw new Error(
        `The roles ${ROLES.join(' and ')} are not ready and this login may not make them so (${error.message}). Let an administrator of the database run:\n${statements.join(';\n')};`,
      );
    });
  }
  await client.query(`grant usage on schema dws to ${ROLES.join(', ')}`);
}

/** Refuses to serve when row-level security would not hold for a role. */
export async function checkRoles(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select r.rolname from pg_roles r where r.rolname = any($1)
    and (r.rolsuper or r.rolbypassrls or exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'dws' and c.relowner = r.oid))`,
    [ROLES],
  );
  if (rows.length)
    throw new Error(
      `The role ${rows[0].rolname} is a superuser, bypasses row-level security or owns tables of the service; it must be none of these`,
    );
}
