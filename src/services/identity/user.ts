import { User } from '../../../entities/user.ts';
import type { Context } from '../../core/context.ts';
import { conflict, forbidden, refused } from '../../core/errors.ts';
import { assignPresent, invalid } from '../../core/input-checks.ts';
import { NEW_USER_PERMISSIONS } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { printPrincipal, type Viewer } from '../../core/viewer.ts';
import { loadNames, recordActivities } from '../resource/activity.ts';
import { OWNED_KINDS } from '../resource/owned-kinds.ts';
import { resolvePrincipal } from '../resource/resolve-ids.ts';
import { credentialsChanged } from './credential-invalidation.ts';
import { userChanged } from './password-reset.ts';
import { checkPassword, hashPassword } from './password.ts';
import { loadUser } from './user-lookup.ts';
import { keepOneSuperuser, requireSession } from './user-permissions.ts';
import { changedAdminField, checkProfile, isLocked, NULLABLE, type UserInput } from './user-profile.ts';
import { checkUsername } from './username.ts';

const isAdmin = (viewer: Viewer): boolean => viewer.superuser || viewer.permissions.has('users:edit');

/** Creates a user; a superuser can only be made by one, in a session. Answers the id. */
export async function create(
  ctx: Context,
  { username: name, password, superuser, locked, ...input }: UserInput & { username: string; password: string },
): Promise<string> {
  const username = checkUsername(name);
  checkPassword(password, username);
  const rest = checkProfile(input);
  if (superuser) {
    if (!ctx.viewer.superuser) throw refused('Only a superuser creates a superuser');
    requireSession(ctx);
  }
  const passwordHash = await hashPassword(password);

  return ctx.transaction(async (tx) => {
    await checkUsernameFree(ctx, tx, username);
    const user = tx.em.create(
      User,
      {
        tenantId: ctx.viewer.tenantId,
        username,
        passwordHash,
        passwordSetAt: new Date(),
        superuser: superuser ?? false,
        permissions: [...NEW_USER_PERMISSIONS],
      },
      { partial: true },
    );
    assignPresent(user, rest, NULLABLE);
    if (locked) user.lockedAt = new Date();
    tx.em.persist(user);
    return user.id;
  });
}

/** Changes a user: an admin everything, the user themself their profile. Only superusers change superusers. Answers the id. */
export async function update(ctx: Context, key: string, input: UserInput): Promise<string> {
  const id = await ctx.transaction(async (tx) => {
    const user = await loadUser(ctx, tx, key, { ifMatch: ctx.ifMatch });
    checkMayChange(ctx, user);
    const reserved = isAdmin(ctx.viewer) ? undefined : changedAdminField(user, input);
    if (reserved) throw refused(`Changing ${reserved} needs the permission user:edit`);
    if (input.superuser != null && input.superuser !== user.superuser)
      throw invalid('superuser', 'is changed by /superuser alone');
    if (input.enabled === false && user.enabled) await keepOneSuperuser(ctx, tx, user);

    const { superuser: _superuser, locked, ...rest } = checkProfile(input);
    if (rest.username != null && rest.username.toLowerCase() !== user.username.toLowerCase())
      await checkUsernameFree(ctx, tx, checkUsername(rest.username));
    const { lockedAt: former, email, domain, enabled } = user;
    assignPresent(user, rest, NULLABLE);
    // An answer that is sent back says both whether and since when; the one that is new decides.
    if (locked === true && !isLocked(user.lockedAt)) user.lockedAt = new Date();
    if (locked === false && isLocked(former) && former?.getTime() === user.lockedAt?.getTime())
      Object.assign(user, { lockedAt: null, loginAttempts: 0 });
    await userChanged(ctx.platform, tx, user, { email, domain, enabled });
    return user.id;
  });
  credentialsChanged(ctx, [id]);
  return id;
}

export type Theme = 'light' | 'dark' | 'auto';

/** Sets the theme in a user's settings. Answers the id. */
export async function setTheme(ctx: Context, key: string, theme: Theme): Promise<string> {
  return ctx.transaction(async (tx) => {
    const user = await loadUser(ctx, tx, key, { ifMatch: ctx.ifMatch });
    checkMayChange(ctx, user);
    user.settings = { ...user.settings, theme };
    return user.id;
  });
}

/** Deletes a user; what they own goes to `transferTo`, by default to the deleting admin (contract 5). */
export async function remove(ctx: Context, key: string, transferTo?: string | null): Promise<void> {
  const id = await ctx.transaction(async (tx) => {
    const user = await loadUser(ctx, tx, key, { ifMatch: ctx.ifMatch });
    if (user.superuser && !ctx.viewer.superuser) throw refused('Only a superuser deletes a superuser');
    if (user.id === ctx.viewer.userId && !transferTo) throw invalid('transferTo', 'must name who gets your content');
    await keepOneSuperuser(ctx, tx, user);
    const heir = transferTo ? await resolvePrincipal(tx, ctx.viewer.tenantId, transferTo) : `user:${ctx.viewer.userId}`;
    if (heir === `user:${user.id}`) throw invalid('transferTo', 'must be somebody else');
    await transferContent(ctx, tx, `user:${user.id}`, heir);
    tx.em.remove(user);
    return user.id;
  });
  credentialsChanged(ctx, [id]);
}

/** Hands all that a principal owns to another. */
export async function transferContent(ctx: Context, tx: Transaction, from: string, to: string): Promise<void> {
  const { viewer } = ctx;
  const heir = (await loadNames(tx, viewer.tenantId, [to]))(to);
  // Drafts are one's own, and nobody else's business.
  await tx.query({
    text: `delete from dws.dataset where tenant_id = $1 and owner_id = $2 and is_draft`,
    values: [viewer.tenantId, from],
  });
  for (const kind of OWNED_KINDS) {
    const moved = await tx.query<{ id: string; name: string; ownerId: string }>({
      text: `update dws.${kind.table} set owner_id = $3, version = version + 1, updated_at = now() where tenant_id = $1 and owner_id = $2 returning id, name, owner_id as "ownerId"`,
      values: [viewer.tenantId, from, to],
    });
    await recordActivities(
      viewer,
      tx,
      kind,
      'owner.changed',
      moved,
      (name) => `${viewer.username} gave ${name} to ${heir}`,
      {
        from: printPrincipal(from),
        to: printPrincipal(to),
      },
    );
  }
  await tx.query({
    text: `update dws.saved_filter set owner_id = $3, version = version + 1, updated_at = now() where tenant_id = $1 and owner_id = $2`,
    values: [viewer.tenantId, from, to],
  });
}

function checkMayChange({ viewer }: Context, user: User): void {
  if (!isAdmin(viewer) && user.id !== viewer.userId) throw forbidden({ permission: 'user:edit' });
  if (user.superuser && !viewer.superuser) throw refused('Only a superuser changes a superuser');
}

async function checkUsernameFree(ctx: Context, tx: Transaction, username: string): Promise<void> {
  // Two who take a name at once wait for each other, so that neither meets the unique index.
  await tx.query({
    text: `select pg_advisory_xact_lock(hashtextextended($1, 0))`,
    values: [`username:${ctx.viewer.tenantId}`],
  });
  const taken = await tx.query({
    text: `select id from dws.app_user where tenant_id = $1 and lower(username) = lower($2)`,
    values: [ctx.viewer.tenantId, username],
  });
  if (taken.length) throw conflict(`The username "${username}" is already in use`);
}
