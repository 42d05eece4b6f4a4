import { randomBytes } from 'node:crypto';
import { conflict } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { NEW_USER_PERMISSIONS } from '../../core/permissions.ts';
import type { SystemDatabase } from '../../core/platform.ts';
import { isSlug } from '../../core/slug.ts';
import { checkPassword, hashPassword } from './password.ts';
import { checkUsername } from './username.ts';

/** Makes a tenant. Answers its id. */
export async function createTenant(system: SystemDatabase, slug: string): Promise<string> {
  if (!isSlug(slug)) throw invalid('tenant', 'must match ^[a-z0-9][a-z0-9-]*$');
  const [made] = await system.query<{ id: string }>({
    text: `insert into dws.tenant (id, slug) values ($1, $2) on conflict (slug) do nothing returning id`,
    values: [newId(), slug],
  });
  if (!made) throw conflict(`There already is a tenant "${slug}"`);
  return made.id;
}

/** Makes a user of a tenant who may log in. Answers the id. For the start and the command line; callers use `users.create`. */
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
  const [made] = await system.query<{ id: string }>({
    text: `insert into dws.app_user (id, tenant_id, username, password_hash, password_set_at, enabled, superuser, permissions)
      select $1, t.id, $2, $3, now(), true, $4, $5 from dws.tenant t where t.slug = $6 on conflict do nothing returning id`,
    values: [newId(), username, passwordHash, superuser, JSON.stringify(NEW_USER_PERMISSIONS), tenant],
  });
  if (!made) throw conflict(`There is no tenant "${tenant}", or it already has a user "${username}"`);
  return made.id;
}

/**
 * Makes tenant `default` and its first superuser where they are missing. Answers the password that was made up, to be shown this once;
 * null when there was nothing to make or the password was given.
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
    text: `select u.id from dws.app_user u join dws.tenant t on t.id = u.tenant_id where t.slug = 'default' and u.superuser limit 1`,
  });
  if (superusers.length) return null;
  const password = admin.password ?? randomBytes(15).toString('base64url');
  try {
    await createUser(system, 'default', admin.username, password, true);
  } catch (error) {
    // Another process that starts at the same time was first.
    if ((error as { code?: string }).code === 'CONFLICT') return null;
    throw error;
  }
  return admin.password ? null : password;
}

/** What names this installation where it shares something with others, e.g. a search engine: made up once and kept in the database. */
export async function installationId(system: SystemDatabase): Promise<string> {
  const [stored] = await system.query<{ value: string }>({
    text: `insert into dws.setting (name, value) values ('installation', $1) on conflict (name) do update set value = dws.setting.value returning value`,
    values: [randomBytes(6).toString('hex')],
  });
  return stored!.value;
}

/** Refuses a key ring that lacks the key whose fingerprint the database holds; a ring with a newer key is noted (contract 1, `APP_SECRET`). */
export async function checkKeyRing(
  system: SystemDatabase,
  { fingerprint, fingerprints }: { fingerprint: string; fingerprints: string[] },
): Promise<void> {
  const [stored] = await system.query<{ value: string }>({
    text: `insert into dws.setting (name, value) values ('key', $1) on conflict (name) do update set value = dws.setting.value returning value`,
    values: [fingerprint],
  });
  if (!fingerprints.includes(stored!.value))
    throw new Error(
      'APP_SECRET does not hold the key that this database was used with; add the former key after the new one, separated by a comma',
    );
  if (stored!.value !== fingerprint)
    await system.query({ text: `update dws.setting set value = $1 where name = 'key'`, values: [fingerprint] });
}
