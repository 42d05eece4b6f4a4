import type { User } from '../../../entities/user.ts';
import type { Context } from '../../core/context.ts';
import { conflict, refused } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { GLOBAL_PERMISSIONS, type GlobalPermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { credentialsChanged } from './credential-invalidation.ts';
import { loadUser } from './user-lookup.ts';

/** What a user may do in the tenant; superusers all of it. */
export const permissionsOf = (user: { superuser: boolean; permissions: readonly string[] }): string[] =>
  user.superuser ? [...GLOBAL_PERMISSIONS] : [...user.permissions];

/** Sets the global permissions of a user. Answers them as stored. */
export async function setPermissions(ctx: Context, key: string, permissions: string[]): Promise<string[]> {
  const unknown = permissions.find((word) => !(GLOBAL_PERMISSIONS as readonly string[]).includes(word));
  if (unknown !== undefined) throw invalid('permissions', `names "${unknown}", which is no global permission`);
  const wanted = new Set(permissions as GlobalPermission[]);
  const user = await ctx.transaction(async (tx) => {
    const found = await loadUser(ctx, tx, key, { ifMatch: ctx.ifMatch });
    if (wanted.has('tenant:superuser') !== found.superuser)
      await makeSuperuser(ctx, tx, found, wanted.has('tenant:superuser'));
    wanted.delete('tenant:superuser');
    found.permissions = GLOBAL_PERMISSIONS.filter((word) => wanted.has(word));
    return found;
  });
  credentialsChanged(ctx, [user.id]);
  return permissionsOf(user);
}

/** Makes a user a superuser or an ordinary one. Needs a session. Answers the username as stored. */
export async function setSuperuser(ctx: Context, key: string, superuser: boolean): Promise<string> {
  const user = await ctx.transaction(async (tx) => {
    const found = await loadUser(ctx, tx, key, { ifMatch: ctx.ifMatch });
    await makeSuperuser(ctx, tx, found, superuser);
    return found;
  });
  credentialsChanged(ctx, [user.id]);
  return user.username;
}

async function makeSuperuser(ctx: Context, tx: Transaction, user: User, superuser: boolean): Promise<void> {
  requireSession(ctx);
  if (user.superuser && !superuser) await keepOneSuperuser(ctx, tx, user);
  user.superuser = superuser;
}

/** Whoever grants or looks into `tenant:superuser` does so in person (contract 2). */
export function requireSession({ viewer }: Context): void {
  if (viewer.authMethod !== 'session')
    throw refused('tenant:superuser needs a session: log in with a password instead of a token');
}

/** The last enabled superuser can be neither removed, disabled nor demoted (contract 9). */
export async function keepOneSuperuser(ctx: Context, tx: Transaction, user: User): Promise<void> {
  if (!user.superuser || !user.enabled) return;
  // The lock makes two who demote each other at once wait for one another.
  await tx.query({
    text: `select pg_advisory_xact_lock(hashtextextended($1, 0))`,
    values: [`superusers:${ctx.viewer.tenantId}`],
  });
  const others = await tx.query({
    text: `select id from dws.app_user where tenant_id = $1 and superuser and enabled and id <> $2 limit 1`,
    values: [ctx.viewer.tenantId, user.id],
  });
  if (!others.length) throw conflict('The last enabled superuser cannot be removed, disabled or demoted');
}
