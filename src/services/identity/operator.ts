import { randomBytes } from 'node:crypto';
import { conflict, notFound } from '../../core/errors.ts';
import { isUuid, newId } from '../../core/id.ts';
import { checkText } from '../../core/input-checks.ts';
import type { SystemDatabase } from '../../core/platform.ts';
import { digest, generateSecret } from '../../core/secret.ts';
import type { Viewer } from '../../core/viewer.ts';
import { isActive } from '../resource/active-user.ts';
import { findTenant } from './bootstrap.ts';
import { LOGIN_LOCK_MINUTES, USER_COLUMNS, viewerOf, type UserRow } from './credential.ts';
import { endResetLinks } from './password-reset.ts';
import { hashPassword } from './password.ts';

// Functions of the command line and of the first start, which have no viewer. Requests must not use them.

/** Returns the tenants by slug, with the number of users of each. */
export const listTenants = (system: SystemDatabase): Promise<{ slug: string; users: number }[]> =>
  system.query({
    text: `
      select t.slug, (select count(*)::int from dws.app_user u where u.tenant_id = t.id) as users
      from dws.tenant t
      order by t.slug`,
  });

/** A user, for the operator of the service. */
interface ListedUser extends Record<string, unknown> {
  username: string;
  superuser: boolean;
  state: 'enabled' | 'disabled' | 'locked';
}

/** Returns the users of a tenant by username. Throws NOT_FOUND if the tenant does not exist. */
export async function listUsers(system: SystemDatabase, tenant: string): Promise<ListedUser[]> {
  const tenantId = await findTenant(system, tenant);
  return system.query<ListedUser>({
    text: `
      select username, superuser,
        case
          when not enabled then 'disabled'
          when admin_locked_at is not null or locked_at + interval '${LOGIN_LOCK_MINUTES} minutes' > now() then 'locked'
          else 'enabled'
        end as state
      from dws.app_user
      where tenant_id = $1
      order by lower(username)`,
    values: [tenantId],
  });
}

/**
 * Unlocks a user, whether an administrator or failed logins have locked them. Throws NOT_FOUND if the user does not
 * exist.
 */
export async function unlockUser(system: SystemDatabase, tenant: string, username: string): Promise<void> {
  const { id } = await findUser(system, tenant, username);
  await system.query({
    text: `
      update dws.app_user set
        locked_at = null, admin_locked_at = null, login_attempts = 0, version = version + 1, updated_at = now()
      where id = $1`,
    values: [id],
  });
}

/**
 * Sets a generated password, resets failed logins and ends sessions and password links of the user. API tokens stay
 * valid, and so does the lock by an administrator. Returns the password; only its hash is stored.
 */
export async function resetPassword(system: SystemDatabase, tenant: string, username: string): Promise<string> {
  const { id, tenantId } = await findUser(system, tenant, username);
  const password = randomBytes(15).toString('base64url');
  const passwordHash = await hashPassword(password);
  await system.transaction(async (query) => {
    await query({
      text: `
        update dws.app_user set
          password_hash = $2, password_set_at = now(), password_expires_at = null,
          locked_at = null, login_attempts = 0, version = version + 1, updated_at = now()
        where id = $1`,
      values: [id, passwordHash],
    });
    await query({ text: `delete from dws.session where user_id = $1`, values: [id] });
    await endResetLinks(query, tenantId, id);
  });
  return password;
}

/**
 * Creates an API token of a user with both scopes and no expiry. Returns the secret; only its hash is stored. Throws
 * CONFLICT if the user is disabled or locked by an administrator.
 */
export async function createToken(
  system: SystemDatabase,
  tenant: string,
  username: string,
  name: string,
): Promise<string> {
  const { id, locked } = await findUser(system, tenant, username);
  const secret = `dws_${generateSecret()}`;
  const created = await system.query({
    text: `
      insert into dws.api_token (id, tenant_id, user_id, name, token_hash, prefix, scopes)
      select $1, u.tenant_id, u.id, $3, $4, $5, '["read", "write"]'
      from dws.app_user u
      where u.id = $2 and ${isActive('u')}
      for share
      returning id`,
    values: [newId(), id, checkText(name, 'name'), digest(secret), secret.slice(0, 8)],
  });
  if (!created.length) throw conflict(`The user "${username}" is ${locked ? 'locked' : 'disabled'}`);
  return secret;
}

/** An API token, for the operator of the service. */
interface ListedToken extends Record<string, unknown> {
  id: string;
  username: string;
  name: string;
  prefix: string;
  scopes: string[];
  lastUsedAt: Date | null;
  expiresAt: Date | null;
}

/** Returns the API tokens of a tenant, or of one of its users, by username and age. Throws NOT_FOUND. */
export async function listTokens(system: SystemDatabase, tenant: string, username?: string): Promise<ListedToken[]> {
  const { tenantId, id = null } =
    username === undefined ? { tenantId: await findTenant(system, tenant) } : await findUser(system, tenant, username);
  return system.query<ListedToken>({
    text: `
      select t.id, u.username, t.name, t.prefix, t.scopes,
        t.last_used_at as "lastUsedAt", t.expires_at as "expiresAt"
      from dws.api_token t
      join dws.app_user u on u.id = t.user_id
      where t.tenant_id = $1 and (t.user_id = $2 or $2::uuid is null)
      order by lower(u.username), t.created_at, t.id`,
    values: [tenantId, id],
  });
}

/** Deletes an API token of a tenant, which is invalid immediately. Throws NOT_FOUND. */
export async function revokeToken(system: SystemDatabase, tenant: string, id: string): Promise<void> {
  const tenantId = await findTenant(system, tenant);
  const deleted = isUuid(id)
    ? await system.query({
        text: `delete from dws.api_token where tenant_id = $1 and id = $2 returning id`,
        values: [tenantId, id],
      })
    : [];
  if (!deleted.length) throw notFound({ what: `token in tenant "${tenant}" with id`, id });
}

/**
 * Returns the ids of a user and their tenant, and whether an administrator has locked the user. Throws NOT_FOUND if one of
 * them does not exist.
 */
export async function findUser(
  system: SystemDatabase,
  tenant: string,
  username: string,
): Promise<{ id: string; tenantId: string; locked: boolean }> {
  const tenantId = await findTenant(system, tenant);
  const [user] = await system.query<{ id: string; locked: boolean }>({
    text: `
      select id, admin_locked_at is not null as locked
      from dws.app_user
      where tenant_id = $1 and lower(username) = lower($2)`,
    values: [tenantId, username],
  });
  if (!user) throw notFound({ what: `user of tenant "${tenant}" named`, id: `"${username}"` });
  return { ...user, tenantId };
}

/**
 * Returns the first superuser of a tenant as a viewer, for content that the first start creates; undefined if none
 * exists.
 */
export async function findFirstSuperuser(system: SystemDatabase, tenant: string): Promise<Viewer | undefined> {
  const [user] = await system.query<UserRow>({
    text: `
      select ${USER_COLUMNS}
      from dws.app_user u
      join dws.tenant t on t.id = u.tenant_id
      where t.slug = $1 and u.superuser and ${isActive('u')}
      order by u.created_at, u.id
      limit 1`,
    values: [tenant],
  });
  return (
    user &&
    viewerOf(user, {
      authMethod: 'job',
      scopes: new Set(['read', 'write']),
      credentialId: newId(),
      expiresAt: null,
    })
  );
}
