import type pg from 'pg';

/**
 * The roles that the service's pools assume. The migrator owns the tables and is neither. See
 * docs/architecture.md#tenants.
 */
export const ROLES = ['dws_app', 'dws_system'] as const;

/** Returns the statements that create missing roles and let the migrator assume them. */
export async function missingRoleStatements(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{
    role: string;
    exists: boolean;
    member: boolean;
    grantee: string;
    version: number;
  }>(
    `select wanted.role,
      r.oid is not null as exists,
      coalesce(pg_has_role(current_user, r.oid, 'MEMBER'), false) as member,
      quote_ident(current_user) as grantee,
      current_setting('server_version_num')::int as version
    from unnest($1::text[]) as wanted (role)
    left join pg_roles r on r.rolname = wanted.role
    order by wanted.role`,
    [ROLES],
  );
  return rows
    .filter(({ member }) => !member)
    .flatMap(({ role, exists, grantee, version }) => [
      ...(exists ? [] : [`create role ${role} nologin nosuperuser nobypassrls noinherit`]),
      // Before Postgres 16, membership is enough to assume a role.
      `grant ${role} to ${grantee}${version >= 160_000 ? ' with set true' : ''}`,
    ]);
}

/**
 * Creates missing roles and lets the migrator assume them. Throws an error with the SQL for an administrator if the
 * login may not.
 */
export async function ensureRoles(client: pg.Client): Promise<void> {
  const statements = await missingRoleStatements(client);
  for (const statement of statements) {
    await client.query(statement).catch((error: { code?: string; message: string }) => {
      // Roles belong to the server: a service in another database may have created them in the meantime.
      if (error.code === '42710' || error.code === '23505') return;
      throw new Error(
        `The roles ${ROLES.join(' and ')} are missing and this login may not create them (${error.message}). ` +
          `An administrator of the database must run:\n${statements.join(';\n')};`,
      );
    });
  }
  await client.query(`grant usage on schema dws to ${ROLES.join(', ')}`);
}

/** Throws when row-level security does not apply to a role. */
export async function checkRoles(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select r.rolname
    from pg_roles r
    where r.rolname = any($1)
      and (
        r.rolsuper
        or r.rolbypassrls
        or exists (
          select
          from pg_class c
          join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = 'dws' and c.relowner = r.oid
        )
      )`,
    [ROLES],
  );
  if (rows.length)
    throw new Error(
      `The role ${rows[0].rolname} must not be a superuser, bypass row-level security or own tables of the service`,
    );
}
