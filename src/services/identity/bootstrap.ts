import { randomBytes } from 'node:crypto';
import { conflict } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { NEW_USER_PERMISSIONS } from '../../core/permissions.ts';
import type { SystemDatabase } from '../../core/platform.ts';
import { isSlug } from '../../core/slug.ts';
import { checkPassword, hashPassword } from './password.ts';
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

/**
 * Creates an enabled user of a tenant for the command line and the first start. Returns the id. Throws CONFLICT if the
 * tenant does not exist or the username is in use. Requests use `create` of `user.ts` instead.
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
  const passwordHash = await hashPassword(password);
  const [created] = await system.query<{ id: string }>({
    text: `
      insert into dws.app_user
        (id, tenant_id, username, password_hash, password_set_at, enabled, superuser, permissions)
      select $1, t.id, $2, $3, now(), true, $4, $5
      from dws.tenant t
      where t.slug = $6
      on conflict do nothing
      returning id`,
    values: [newId(), username, passwordHash, superuser, JSON.stringify(NEW_USER_PERMISSIONS), tenant],
  });
  if (!created) throw conflict(`There is no tenant "${tenant}", or it already has a user "${username}"`);
  return created.id;
}

/**
 * Creates the tenant `default` and its first superuser if they are missing. Returns the generated password, which the
 * caller shows once. Returns null if the superuser exists or `admin.password` is set.
 */
export async function bootstrap(
  system: SystemDatabase,
  admin: { username: string; password?: string | undefined },
): Promise<string | null> {
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
  if (superusers.length) return null;
  const password = admin.password ?? randomBytes(15).toString('base64url');
  try {
    await createUser(system, 'default', admin.username, password, true);
  } catch (error) {
    // Another process that starts at the same time has created the user.
    if ((error as { code?: string }).code === 'CONFLICT') return null;
    throw error;
  }
  return admin.password ? null : password;
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

/**
 * Compares the key ring with the key fingerprint in the database. Throws if the ring lacks that key; stores the
 * fingerprint of a newer key. See docs/contract.md#running-it.
 */
export async function checkKeyRing(
  system: SystemDatabase,
  { fingerprint, fingerprints }: { fingerprint: string; fingerprints: string[] },
): Promise<void> {
  const [stored] = await system.query<{ value: string }>({
    text: `
      insert into dws.setting (name, value) values ('key', $1)
      on conflict (name) do update set value = dws.setting.value
      returning value`,
    values: [fingerprint],
  });
  if (!fingerprints.includes(stored!.value))
    throw new Error(
      'APP_SECRET does not contain the key that this database was used with; ' +
        'add the former key after the new one, separated by a comma',
    );
  if (stored!.value !== fingerprint)
    await system.query({ text: `update dws.setting set value = $1 where name = 'key'`, values: [fingerprint] });
}
