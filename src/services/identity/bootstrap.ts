import { randomBytes } from 'node:crypto';
import type { Query } from '../../core/database.ts';
import { ApiError, conflict, notFound } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { NEW_USER_PERMISSIONS } from '../../core/permissions.ts';
import type { SecretBox, SystemDatabase } from '../../core/platform.ts';
import { isSlug } from '../../core/slug.ts';
import { checkPassword, hashPassword, verifyPassword } from './password.ts';
import { checkUsername } from './username.ts';

/** Creates a tenant. Returns its id. Throws CONFLICT if the slug is in use. */
export async function createTenant(system: SystemDatabase, slug: string): Promise<string> {
  if (!isSlug(slug)) throw invalid('tenant', 'must match ^[a-z0-9][a-z0-9-]*$');
  const [created] = await system.query<{ id: string }>({
    text: `insert into dws.tenant (id, slug) values ($1, $2) on conflict (slug) do nothing returning id`,
    values: [newId(), slug],
  });
  if (!created) throw conflict(`There already is a tenant "${slug}"`);
  return created.id;
}

/** Returns the id of a tenant. Throws NOT_FOUND if it does not exist. */
export async function findTenant(system: SystemDatabase, slug: string): Promise<string> {
  const [found] = await system.query<{ id: string }>({
    text: `select id from dws.tenant where slug = $1`,
    values: [slug],
  });
  if (!found) throw notFound({ what: 'tenant', id: `"${slug}"` });
  return found.id;
}

/**
 * Creates an enabled user of a tenant for the command line and the first start. Returns the id. Throws NOT_FOUND if the
 * tenant does not exist, CONFLICT if the username is in use. Requests use `create` of `user.ts` instead.
 */
export async function createUser(
  system: SystemDatabase,
  tenant: string,
  username: string,
  password: string,
  superuser: boolean,
): Promise<string> {
  checkUsername(username);
  checkPassword(password, username);
  const tenantId = await findTenant(system, tenant);
  const passwordHash = await hashPassword(password);
  const [created] = await system.query<{ id: string }>({
    text: `
      insert into dws.app_user
        (id, tenant_id, username, password_hash, password_set_at, enabled, superuser, permissions)
      values ($1, $6, $2, $3, now(), true, $4, $5)
      on conflict do nothing
      returning id`,
    values: [newId(), username, passwordHash, superuser, JSON.stringify(NEW_USER_PERMISSIONS), tenantId],
  });
  if (!created) throw conflict(`Tenant "${tenant}" already has a user "${username}"`);
  return created.id;
}

/** Name of the setting with the generated password of the first superuser, until it was shown. */
const UNSHOWN_PASSWORD = 'unshown_password';

/** Credentials of the first superuser, for the operator of the service. */
export interface FirstLogin {
  username: string;
  password: string;
}

/**
 * Creates the tenant `default` and its first superuser if they are missing. Returns the login with the generated
 * password until `forgetFirstPassword` is called; null if `admin.password` was set, or the password was changed since.
 * The password is stored sealed until then, so that a start that fails before it is shown does not lose it.
 */
export async function bootstrap(
  system: SystemDatabase,
  secrets: SecretBox,
  admin: { username: string; password?: string | undefined },
): Promise<FirstLogin | null> {
  await system.query({
    text: `insert into dws.tenant (id, slug) values ($1, 'default') on conflict (slug) do nothing`,
    values: [newId()],
  });
  const superusers = await system.query({
    text: `
      select u.id
      from dws.app_user u
      join dws.tenant t on t.id = u.tenant_id
      where t.slug = 'default' and u.superuser
      limit 1`,
  });
  if (!superusers.length) await createFirstSuperuser(system, secrets, admin);
  return findUnshownLogin(system, secrets);
}

async function createFirstSuperuser(
  system: SystemDatabase,
  secrets: SecretBox,
  admin: { username: string; password?: string | undefined },
): Promise<void> {
  const password = admin.password ?? randomBytes(15).toString('base64url');
  try {
    await system.transaction(async (query) => {
      const within = { query, transaction: <T>(work: (inner: Query) => Promise<T>) => work(query) };
      const userId = await createUser(within, 'default', admin.username, password, true);
      if (!admin.password)
        await query({
          text: `
            insert into dws.setting (name, value) values ($1, $2)
            on conflict (name) do update set value = excluded.value`,
          values: [UNSHOWN_PASSWORD, secrets.seal(JSON.stringify({ userId, password }))],
        });
    });
  } catch (error) {
    // Another process that starts at the same time has created the user.
    if ((error as { code?: string }).code !== 'CONFLICT') throw error;
  }
}

/** Returns the stored login if the user still has its password. */
async function findUnshownLogin(system: SystemDatabase, secrets: SecretBox): Promise<FirstLogin | null> {
  const [stored] = await system.query<{ value: string }>({
    text: `select value from dws.setting where name = $1`,
    values: [UNSHOWN_PASSWORD],
  });
  if (!stored) return null;
  const opened = openLogin(secrets, stored.value);
  if (!opened) return null;
  const { userId, password } = opened;
  const [user] = await system.query<{ username: string; passwordHash: string | null }>({
    text: `select username, password_hash as "passwordHash" from dws.app_user where id = $1`,
    values: [userId],
  });
  const isCurrent = await verifyPassword(user?.passwordHash, password, 'local');
  return user && isCurrent ? { username: user.username, password } : null;
}

/** Returns null if the key is lost: an operator resets the password then. */
function openLogin(secrets: SecretBox, sealed: string): { userId: string; password: string } | null {
  try {
    return JSON.parse(secrets.open(sealed, 'the first password')) as { userId: string; password: string };
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/** Removes the generated password of the first superuser, once it was shown. */
export async function forgetFirstPassword(system: SystemDatabase): Promise<void> {
  await system.query({ text: `delete from dws.setting where name = $1`, values: [UNSHOWN_PASSWORD] });
}

/**
 * Returns the identifier of this installation in shared systems such as a search engine. Generates and stores it once.
 */
export async function loadInstallationId(system: SystemDatabase): Promise<string> {
  const [stored] = await system.query<{ value: string }>({
    text: `
      insert into dws.setting (name, value) values ('installation', $1)
      on conflict (name) do update set value = dws.setting.value
      returning value`,
    values: [randomBytes(6).toString('hex')],
  });
  return stored!.value;
}
