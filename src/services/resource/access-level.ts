import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import { isRestricted, LEVEL, LEVEL_OF_ROLE, type Level, type TeamRole } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { idOfPrincipal, type Viewer } from '../../core/viewer.ts';

/** SQL for the rows that a draft or snapshot may have as its parent. Ids are unique across kinds. */
const PARENTS = OWNED_KINDS.filter(({ hasParents }) => hasParents)
  .map(({ table }) => `select id, owner_id as "ownerId" from dws.${table} where tenant_id = $1 and id = $2`)
  .join(' union all ');

/** The fields of a viewer that determine their access levels. */
export type Grantee = Pick<Viewer, 'superuser' | 'userId' | 'teamRoles' | 'tenantId' | 'principals'>;

/** The fields of a resource that determine a viewer's access level on it. */
export interface AccessColumns {
  id: string;
  ownerId: string;
  /** Resource of a draft or snapshot. */
  parent?: { id: string; ownerId: string } | null;
}

/**
 * Returns the viewer's level on a resource of a principal, without shares. Superusers and the owner have the highest
 * level, the members of a team the level of their role (docs/contract/access.md#team-roles).
 */
export function ownershipLevel(viewer: Pick<Viewer, 'superuser' | 'userId' | 'teamRoles'>, ownerId: string): Level {
  if (viewer.superuser || ownerId === `user:${viewer.userId}`) return LEVEL.owner;
  const role = ownerId.startsWith('team:') ? viewer.teamRoles[ownerId.slice(5)] : undefined;
  return role ? LEVEL_OF_ROLE[role] : LEVEL.none;
}

/** SQL condition on `dws.share s`: the share restricts neither rows nor fields. */
export const UNRESTRICTED = 's.dataset_filter_id is null and not s.restrict_fields';

/** SQL expression for the level that `dws.share s` grants. */
const SHARE_LEVEL = `
  case
    when ${UNRESTRICTED} or s.access_level = 0 then s.access_level
    when s.access_level = ${LEVEL.view} then ${LEVEL.restrictedView}
    else ${LEVEL.restrictedEdit}
  end::float8`;

/** Returns the highest level that shares grant a viewer on each resource, in the order of `ids`. */
export async function loadSharedLevels(
  query: Query,
  { tenantId, principals }: Pick<Viewer, 'tenantId' | 'principals'>,
  ids: readonly string[],
): Promise<Level[]> {
  const found = await query<{ id: string; level: Level }>({
    text: `
      select resource_id as id, max(${SHARE_LEVEL}) as level
      from dws.share s
      where tenant_id = $1 and resource_id = any($2) and principal = any($3)
      group by resource_id`,
    values: [tenantId, ids, principals],
  });
  const levels = new Map(found.map(({ id, level }) => [id, level]));
  return ids.map((id) => levels.get(id) ?? LEVEL.none);
}

/**
 * Loads the fields that determine the levels of a user or of any member of a team. The user does not have to be the
 * caller. Returns null if the user does not exist.
 */
export async function findGrantee(
  { query }: Pick<Transaction, 'query'>,
  tenantId: string,
  principal: string,
): Promise<Grantee | null> {
  const id = idOfPrincipal(principal);
  if (principal.startsWith('team:'))
    return { superuser: false, tenantId, userId: '', teamRoles: { [id]: 'member' }, principals: [principal] };
  const [user] = await query<{ superuser: boolean; teamRoles: Record<string, TeamRole> }>({
    text: `
      select u.superuser, coalesce((
        select jsonb_object_agg(m.team_id, m.role)
        from dws.team_member m
        where m.tenant_id = $1 and m.user_id = u.id
      ), '{}') as "teamRoles"
      from dws.app_user u
      where u.tenant_id = $1 and u.id = $2`,
    values: [tenantId, id],
  });
  if (!user) return null;
  const teams = Object.keys(user.teamRoles).map((team) => `team:${team}`);
  return { ...user, tenantId, userId: id, principals: [principal, ...teams] };
}

/** Loads the fields that determine the levels of a user or of a team that acts by itself. Returns null for neither. */
export async function findActor(tx: Pick<Transaction, 'query'>, tenantId: string, id: string): Promise<Grantee | null> {
  const user = await findGrantee(tx, tenantId, `user:${id}`);
  if (user) return user;
  const teams = await tx.query({
    text: `select from dws.team where tenant_id = $1 and id = $2`,
    values: [tenantId, id],
  });
  return teams.length > 0 ? actingTeam(tenantId, id) : null;
}

/**
 * Returns a team that acts by itself, as in the runs of its jobs: with its own rights and the rights that shares grant
 * it.
 */
export const actingTeam = (tenantId: string, id: string): Grantee => ({
  superuser: false,
  tenantId,
  userId: id,
  teamRoles: { [id]: 'admin' },
  principals: [`team:${id}`],
});

/**
 * Returns the viewer's level on a resource by ownership, team role and shares. A share never grants more than the role
 * `admin` in the owning team.
 */
export function accessLevel(ctx: Context, { id, ownerId, parent }: AccessColumns): Level | Promise<Level> {
  const own = ownershipLevel(ctx.viewer, ownerId);
  if (parent) return Promise.resolve(accessLevel(ctx, parent)).then((onParent) => cappedLevel(onParent, own));
  return own >= LEVEL.admin ? own : ctx.sharedLevel(id).then((shared) => higher(own, shared));
}

/**
 * Returns the level like `accessLevel`, within a transaction. Loads the resource of a draft or snapshot by `parentId`.
 */
export async function accessLevelInTransaction(
  ctx: { viewer: Grantee },
  tx: Pick<Transaction, 'query'>,
  { id, ownerId, parentId }: { id: string; ownerId: string; parentId?: string | null },
): Promise<Level> {
  const own = ownershipLevel(ctx.viewer, ownerId);
  if (parentId) {
    const [parent] = await tx.query<{ id: string; ownerId: string }>({
      text: PARENTS,
      values: [ctx.viewer.tenantId, parentId],
    });
    return parent ? cappedLevel(await accessLevelInTransaction(ctx, tx, parent), own) : own;
  }
  return own >= LEVEL.admin ? own : higher(own, (await loadSharedLevels(tx.query, ctx.viewer, [id]))[0]!);
}

const higher = (a: Level, b: Level): Level => (a > b ? a : b);

/**
 * Returns the level on a draft or snapshot. Without full access to its resource it is the level on the resource, even
 * for the owner of the draft or snapshot (docs/contract/access.md#restricted-shares).
 */
const cappedLevel = (onParent: Level, own: Level): Level => (isRestricted(onParent) ? onParent : higher(onParent, own));
