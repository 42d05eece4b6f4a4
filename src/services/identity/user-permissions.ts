import type { User } from '../../../entities/user.ts';
import type { Context } from '../../core/context.ts';
import { conflict, sessionRequired } from '../../core/errors.ts';
import { lockKey } from '../../core/locks.ts';
import { GLOBAL_PERMISSIONS, NEW_USER_PERMISSIONS, type GlobalPermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { isActive } from '../resource/active-user.ts';
import { invalidateCredentials } from './credential-invalidation.ts';
import { loadUser } from './user-lookup.ts';

/** Returns the global permissions of a user. Superusers have all of them. */
export const permissionsOf = (user: { superuser: boolean; permissions: readonly string[] }): string[] =>
  user.superuser ? [...GLOBAL_PERMISSIONS] : [...user.permissions];

/**
 * Sets the global permissions of a user. Returns them as stored. Changing `tenant:superuser` requires a session. See
 * docs/contract/access.md#global-permissions.
 */
export async function setPermissions(ctx: Context, key: string, permissions: string[]): Promise<string[]> {
  const requested = new Set(permissions as GlobalPermission[]);
  const user = await ctx.transaction(async (tx) => {
    const loaded = await loadUser(ctx, tx, key, { ifMatch: ctx.ifMatch });
    if (requested.has('tenant:superuser') !== loaded.superuser)
      await changeSuperuser(ctx, tx, loaded, requested.has('tenant:superuser'));
    requested.delete('tenant:superuser');
    loaded.permissions = GLOBAL_PERMISSIONS.filter((word) => requested.has(word));
    return loaded;
  });
  invalidateCredentials(ctx, [user.id]);
  return permissionsOf(user);
}

/** Grants or revokes the superuser status of a user. Returns the username as stored. Requires a session. */
export async function setSuperuser(ctx: Context, key: string, superuser: boolean): Promise<string> {
  const user = await ctx.transaction(async (tx) => {
    const loaded = await loadUser(ctx, tx, key, { ifMatch: ctx.ifMatch });
    await changeSuperuser(ctx, tx, loaded, superuser);
    return loaded;
  });
  invalidateCredentials(ctx, [user.id]);
  return user.username;
}

async function changeSuperuser(ctx: Context, tx: Transaction, user: User, superuser: boolean): Promise<void> {
  requireSession(ctx);
  if (user.superuser && !superuser) await requireOtherSuperuser(ctx, tx, user);
  user.superuser = superuser;
}

/**
 * Returns a global permission of another user that neither the viewer nor every new user has. A viewer who could log in
 * as that user would gain it.
 */
export const permissionToGain = (viewer: Viewer, user: User): GlobalPermission | undefined =>
  viewer.superuser || viewer.userId === user.id
    ? undefined
    : user.permissions.find((word) => isGranted(word) && !viewer.permissions.has(word));

const isGranted = (word: GlobalPermission): boolean => !NEW_USER_PERMISSIONS.includes(word);

/**
 * Returns whether a session of the user could do more than a session of a new user. This applies to the user of a token
 * itself, too.
 */
export const isSessionOfValue = ({ userId }: Viewer, user: User): boolean =>
  user.id === userId || user.superuser || user.permissions.some(isGranted);

/** Throws FORBIDDEN if the caller uses a token. Granting and reading `tenant:superuser` require a session. */
export function requireSession({ viewer }: Context): void {
  if (viewer.authMethod !== 'session') throw sessionRequired();
}

/**
 * Throws CONFLICT unless another enabled superuser of the tenant can log in. Call it before an enabled superuser is removed,
 * disabled, locked, demoted or moved. See docs/contract/people.md#users.
 */
export async function requireOtherSuperuser(
  ctx: Context,
  tx: Transaction,
  user: User,
  change = 'removed, disabled or demoted',
): Promise<void> {
  if (!user.superuser || !user.enabled || user.adminLockedAt) return;
  if (!(await canSuperuserLogIn(ctx, tx, { butUser: user.id })))
    throw conflict(`The last enabled superuser cannot be ${change}`);
}

/**
 * Returns whether an enabled superuser, whom no administrator has locked, can log in with a password. Users of a domain
 * with an enabled provider cannot. Checks it as if this user did not exist, or this domain got a provider.
 */
export async function canSuperuserLogIn(
  { viewer }: Context,
  tx: Transaction,
  { butUser = null, butDomain = null }: { butUser?: string | null; butDomain?: string | null },
): Promise<boolean> {
  // The lock serializes concurrent changes, so that two superusers cannot demote each other.
  lockKey(tx, `superusers:${viewer.tenantId}`);
  const others = await tx.query({
    text: `
      select id from dws.app_user u
      where tenant_id = $1 and superuser and ${isActive('u')} and id is distinct from $2::uuid
        and lower(domain) is distinct from lower($3) and (domain = 'local' or password_hash is not null)
        and not exists (
          select from dws.identity_provider p
          where p.tenant_id = $1 and p.enabled and lower(p.domain) = lower(u.domain)
        )
      limit 1`,
    values: [viewer.tenantId, butUser, butDomain],
  });
  return others.length > 0;
}
