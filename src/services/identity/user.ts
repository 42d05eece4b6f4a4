import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import type { CreateUserInput, UpdateUserInput } from '../../../entities/user-input.ts';
import { User } from '../../../entities/user.ts';
import type { Context } from '../../core/context.ts';
import { conflict, forbidden, refused } from '../../core/errors.ts';
import { assignPresent, invalid } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import { NEW_USER_PERMISSIONS } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { printPrincipal, type Viewer } from '../../core/viewer.ts';
import { endConnections } from '../connection/end-connections.ts';
import { loadNames, recordActivities } from '../resource/activity.ts';
import { checkNewOwner } from '../resource/owned-kind.ts';
import { resolvePrincipal } from '../resource/resolve-ids.ts';
import { deleteStoredBytes } from '../resource/stored-file.ts';
import { deleteAvatarFiles, deleteAvatarUploads } from './avatar-file.ts';
import { deleteCredentials, deleteSessions } from './credential-cleanup.ts';
import { invalidateCredentials } from './credential-invalidation.ts';
import { lockCredential } from './credential-lock.ts';
import { updateResetLinks } from './password-reset.ts';
import { checkPassword, hashPassword } from './password.ts';
import { lockChange } from './user-lock.ts';
import { findUsernameOwner, loadUser } from './user-lookup.ts';
import { isSessionOfValue, permissionToGain, requireOtherSuperuser, requireSession } from './user-permissions.ts';
import {
  changedAccountField,
  changedAdminField,
  changedLoginField,
  checkProfile,
  NULLABLE_USER_FIELDS,
} from './user-profile.ts';
import { checkUsername } from './username.ts';

const isAdmin = (viewer: Viewer): boolean => viewer.superuser || viewer.permissions.has('users:edit');

const onlySuperusersCreate = () => refused('Only superusers can create a superuser');

/**
 * Creates a user. Returns the id. Only a superuser in a session can create a superuser. Throws CONFLICT if the username
 * is in use.
 */
export async function create(
  ctx: Context,
  { username: name, password, superuser, ...input }: CreateUserInput,
): Promise<string> {
  const username = checkUsername(name);
  checkPassword(password, username);
  const profile = checkProfile(input);
  if (superuser) {
    if (!ctx.viewer.superuser) throw onlySuperusersCreate();
    requireSession(ctx);
  }
  const passwordHash = await hashPassword(password, ctx.request.address);

  return ctx.transaction(async (tx) => {
    const current = await lockCredential(ctx, tx);
    if (superuser && !current.superuser) throw onlySuperusersCreate();
    if (!current.superuser && !current.permissions.includes('users:create'))
      throw forbidden({ permission: 'users:create' });
    await checkUsernameFree(ctx, tx, username);
    const user = newRow(User, {
      tenantId: ctx.viewer.tenantId,
      username,
      passwordHash,
      passwordSetAt: new Date(),
      superuser: superuser ?? false,
      permissions: [...NEW_USER_PERMISSIONS],
    });
    assignPresent(user, profile, NULLABLE_USER_FIELDS);
    return tx.insert(user).id;
  });
}

/**
 * Updates a user. Returns the id. Users can change their own profile; other users and fields require `users:edit`. Only
 * superusers can change a superuser.
 */
export async function update(ctx: Context, key: string, input: UpdateUserInput): Promise<string> {
  const { id, ended } = await ctx.transaction(async (tx) => {
    const user = await loadUser(ctx, tx, key, { ifMatch: ctx.ifMatch });
    requireUserEdit(ctx, user);
    const adminField = isAdmin(ctx.viewer) ? undefined : changedAdminField(user, input);
    if (adminField) throw refused(`Changing ${adminField} requires the permission user:edit`);
    requireNoTakeover(ctx, user, input);
    if (input.superuser != null && input.superuser !== user.superuser)
      throw invalid('superuser', 'can only be changed with setSuperuser (REST: /users/{username}/superuser)');
    const isLeaving = input.domain != null && input.domain !== user.domain;
    if (isLeaving || (input.enabled === false && user.enabled)) await requireOtherSuperuser(ctx, tx, user);
    const lock = lockChange(user, input);
    if (lock?.adminLockedAt) await requireOtherSuperuser(ctx, tx, user, 'locked');

    const { superuser: _superuser, locked: _locked, lockedAt: _lockedAt, ...rest } = checkProfile(input);
    if (rest.username != null && rest.username.toLowerCase() !== user.username.toLowerCase())
      await checkUsernameFree(ctx, tx, checkUsername(rest.username));
    const { email, domain, enabled, adminLockedAt } = user;
    assignPresent(user, rest, NULLABLE_USER_FIELDS);
    if (lock) Object.assign(user, lock);
    if (user.adminLockedAt) await deleteSessions(tx.query, user.tenantId, user.id);
    // Credentials are also deleted when the user is enabled, because older versions left them to disabled users; and
    // when the user moves, because another system then decides who they are.
    const moved = user.domain !== domain;
    if (moved) Object.assign(user, { passwordHash: null, passwordSetAt: null });
    if (moved || user.enabled !== enabled) await deleteCredentials(tx.query, user.tenantId, user.id);
    await updateResetLinks(ctx, tx, user, { email, domain, enabled, adminLockedAt });
    return { id: user.id, ended: user.enabled ? null : await endConnections(ctx, tx, { ownerId: user.id }) };
  });
  invalidateCredentials(ctx, [id]);
  await ended?.revoke();
  return id;
}

export type Theme = 'light' | 'dark' | 'auto';

/** Sets the theme in the settings of a user. Returns the id. */
export async function setTheme(ctx: Context, key: string, theme: Theme): Promise<string> {
  return ctx.transaction(async (tx) => {
    const user = await loadUser(ctx, tx, key, { ifMatch: ctx.ifMatch });
    requireUserEdit(ctx, user);
    user.settings = { ...user.settings, theme };
    return user.id;
  });
}

/**
 * Deletes a user and transfers their resources to `transferTo`, by default to the viewer. See
 * docs/contract/resources.md#owners.
 */
export async function remove(ctx: Context, key: string, transferTo?: string | null): Promise<void> {
  const { id, files, ended } = await ctx.transaction(async (tx) => {
    const user = await loadUser(ctx, tx, key, { ifMatch: ctx.ifMatch });
    if (user.superuser && !ctx.viewer.superuser) throw refused('Only superusers can delete a superuser');
    await requireOtherSuperuser(ctx, tx, user);
    if (user.id === ctx.viewer.userId && !transferTo) throw invalid('transferTo', 'is required to delete yourself');
    const newOwner = transferTo
      ? await resolvePrincipal(tx, ctx.viewer.tenantId, transferTo)
      : `user:${ctx.viewer.userId}`;
    if (newOwner === `user:${user.id}`) throw invalid('transferTo', 'must not be the deleted user');
    const [parts] = await Promise.all([
      deleteAvatarUploads(tx, user),
      transferContent(ctx, tx, `user:${user.id}`, newOwner),
    ]);
    const ended = await endConnections(ctx, tx, { ownerId: user.id });
    tx.remove(user);
    return { id: user.id, files: [...deleteAvatarFiles(tx, user), ...parts], ended };
  });
  invalidateCredentials(ctx, [id]);
  await ended.revoke();
  await deleteStoredBytes(ctx, files);
}

/**
 * Transfers everything that a principal owns to another one, except drafts, which are deleted. Throws FORBIDDEN if the
 * new owner is a team in which the viewer has less than the role `memberPlus`.
 */
export async function transferContent(ctx: Context, tx: Transaction, from: string, to: string): Promise<void> {
  const { platform, viewer } = ctx;
  checkNewOwner(ctx, to);
  for (const transferBelongings of platform.belongings) transferBelongings(tx, viewer.tenantId, from, to);
  const transfer = ({ table }: { table: string }) =>
    tx.query<{ id: string; name: string; ownerId: string }>({
      text: `
        update dws.${table} set owner_id = $3, version = version + 1, updated_at = now()
        where tenant_id = $1 and owner_id = $2
        returning id, name, owner_id as "ownerId"`,
      values: [viewer.tenantId, from, to],
    });
  const [nameOf, ...transferred] = await Promise.all([
    loadNames(tx, viewer.tenantId, [to]),
    ...OWNED_KINDS.map(transfer),
  ]);
  const data = { from: printPrincipal(from), to: printPrincipal(to) };
  const sentence = (name: string) => `${viewer.username} gave ${name} to ${nameOf(to)}`;
  for (const [index, kind] of OWNED_KINDS.entries())
    recordActivities(viewer, tx, kind, 'owner.changed', transferred[index]!, sentence, data);
}

/** Throws FORBIDDEN unless the caller is the user or an admin of users. Only superusers change a superuser. */
export function requireUserEdit({ viewer }: Context, user: Pick<User, 'id' | 'superuser'>): void {
  if (!isAdmin(viewer) && user.id !== viewer.userId) throw forbidden({ permission: 'user:edit' });
  if (user.superuser && !viewer.superuser) throw refused('Only superusers can change a superuser');
}

/**
 * Throws FORBIDDEN if the input would let the viewer log in as a user with permissions that the viewer lacks, or a token
 * get a session by an account at an identity provider.
 */
function requireNoTakeover({ viewer }: Context, user: User, input: UpdateUserInput): void {
  const permission = permissionToGain(viewer, user);
  const field = permission && changedLoginField(user, input);
  if (field) throw refused(`Changing ${field} of a user with the permission ${permission} requires that permission`);
  const moved = viewer.authMethod !== 'session' && isSessionOfValue(viewer, user) && changedAccountField(user, input);
  if (moved) throw refused(`Changing ${moved} of this user requires a session: log in with a password`);
}

async function checkUsernameFree(ctx: Context, tx: Transaction, username: string): Promise<void> {
  const owner = await findUsernameOwner(tx, ctx.viewer.tenantId, username);
  if (owner !== undefined) throw conflict(`The username "${username}" is already in use`);
}
