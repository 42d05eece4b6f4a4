import type { CreateTeamInput, UpdateTeamInput } from '../../../entities/team-input.ts';
import { TeamMember } from '../../../entities/team-member.ts';
import { Team } from '../../../entities/team.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { forbidden, notFound, slugTaken } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { assignPresent, checkOptionalText, checkText, invalid } from '../../core/input-checks.ts';
import type { TeamRole } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { slugOf } from '../../core/slug.ts';
import { checkSlug, checkVersion, type ExpectedVersion, freeSlug, principalOf } from '../resource/access.ts';
import { addTeamToViewer, invalidateCredentials } from './credential-invalidation.ts';
import { loadUser } from './user-lookup.ts';
import { transferContent } from './user.ts';

/** Creates a team with the viewer as its first admin. Returns the id. Throws CONFLICT if the given slug is in use. */
export async function create(ctx: Context, input: CreateTeamInput): Promise<string> {
  const { tenantId, userId } = ctx.viewer;
  const name = checkText(input.name, 'name');
  const teamId = await ctx.transaction(async (tx) => {
    const slug = input.slug
      ? await claimSlug(tx, tenantId, input.slug)
      : await freeSlug(tx, tenantId, 'team', slugOf(name));
    const team = tx.em.create(
      Team,
      { tenantId, name, slug, description: checkOptionalText(input.description ?? null, 'description') },
      { partial: true },
    );
    await tx.em.persist(team).flush();
    tx.em.persist(tx.em.create(TeamMember, { tenantId, teamId: team.id, userId, role: 'admin' }, { partial: true }));
    return team.id;
  });
  invalidateCredentials(ctx, [userId]);
  addTeamToViewer(ctx, teamId, 'admin');
  return teamId;
}

/** Updates a team. Returns its id. Throws FORBIDDEN unless the viewer is an admin of the team or a superuser. */
export async function update(ctx: Context, id: string, input: UpdateTeamInput): Promise<string> {
  return ctx.transaction(async (tx) => {
    const team = await loadTeam(ctx, tx, id, 'team:edit', { ifMatch: ctx.ifMatch });
    const { slug, ...rest } = input;
    if (rest.name !== undefined) rest.name = checkText(rest.name, 'name');
    if (rest.description != null) rest.description = checkOptionalText(rest.description, 'description');
    assignPresent(team, rest, ['description']);
    if (slug != null && slug !== team.slug) team.slug = await claimSlug(tx, ctx.viewer.tenantId, slug);
    return team.id;
  });
}

/**
 * Deletes a team and transfers its resources to `transferTo`, by default to the viewer. See docs/contract.md#owners.
 */
export async function remove(ctx: Context, id: string, transferTo?: string | null): Promise<void> {
  const members = await ctx.transaction(async (tx) => {
    const team = await loadTeam(ctx, tx, id, 'team:delete', { ifMatch: ctx.ifMatch });
    const newOwner = transferTo ? await principalOf(tx, ctx.viewer.tenantId, transferTo) : `user:${ctx.viewer.userId}`;
    if (newOwner === `team:${team.id}`) throw invalid('transferTo', 'must not be the deleted team');
    await transferContent(ctx, tx, `team:${team.id}`, newOwner);
    const rows = await tx.query<{ user_id: string }>({
      text: `select user_id from dws.team_member where tenant_id = $1 and team_id = $2`,
      values: [ctx.viewer.tenantId, team.id],
    });
    tx.em.remove(team);
    return rows;
  });
  invalidateCredentials(
    ctx,
    members.map((member) => member.user_id),
  );
}

/** Adds a member or changes their role. Returns the key of the membership. */
export async function setMember(
  ctx: Context,
  id: string,
  username: string,
  role: TeamRole,
): Promise<{ teamId: string; userId: string }> {
  const membership = await ctx.transaction(async (tx) => {
    const { team, user, member } = await loadMember(ctx, tx, id, username, 'team:edit');
    if (member) member.role = role;
    else
      tx.em.persist(
        tx.em.create(
          TeamMember,
          { tenantId: ctx.viewer.tenantId, teamId: team.id, userId: user.id, role },
          { partial: true },
        ),
      );
    return { teamId: team.id, userId: user.id };
  });
  invalidateCredentials(ctx, [membership.userId]);
  return membership;
}

/** Removes a member. Requires `team:edit`, except that members can remove themselves. */
export async function removeMember(ctx: Context, id: string, username: string): Promise<void> {
  const { viewer } = ctx;
  const isSelf = username === viewer.userId || username.toLowerCase() === viewer.username.toLowerCase();
  const userId = await ctx.transaction(async (tx) => {
    const { user, member } = await loadMember(ctx, tx, id, username, isSelf ? 'team:read' : 'team:edit');
    if (!member) throw notFound({ what: 'member', id: username });
    tx.em.remove(member);
    return user.id;
  });
  invalidateCredentials(ctx, [userId]);
}

/**
 * Loads a team, a user of the tenant and their membership, if there is one. The team is locked first, so that
 * concurrent changes of its members do not deadlock.
 */
async function loadMember(
  ctx: Context,
  tx: Transaction,
  id: string,
  username: string,
  permission: 'team:read' | 'team:edit',
) {
  const team = await loadTeam(ctx, tx, id, permission);
  const user = await loadUser(ctx, tx, username);
  const member = await tx.em.findOne(TeamMember, { teamId: team.id, userId: user.id });
  checkVersion(ctx, 'member', member?.version ?? 0);
  return { team, user, member };
}

/**
 * Loads a team by id, slug or natural id and locks it. All users of the tenant can read it; the other permissions
 * require the role `admin` in the team, or a superuser. See docs/contract.md#teams.
 */
async function loadTeam(
  ctx: Context,
  tx: Transaction,
  id: string,
  permission: 'team:read' | 'team:edit' | 'team:delete',
  expected: ExpectedVersion = {},
): Promise<Team> {
  const { viewer } = ctx;
  const slug = id.startsWith(`${viewer.tenant}:`) ? id.slice(viewer.tenant.length + 1) : id;
  const [row] = await tx.query<{ id: string }>({
    text: `select id from dws.team where tenant_id = $1 and ${isUuid(id) ? 'id' : 'slug'} = $2 for update`,
    values: [viewer.tenantId, isUuid(id) ? id : slug],
  });
  const team = row && (await tx.em.findOne(Team, { id: row.id }));
  if (!team) throw notFound({ what: 'team', id });
  recordAuditTarget(ctx.request, 'team', id, team.id);
  if (permission !== 'team:read' && !viewer.superuser && viewer.teamRoles[team.id] !== 'admin')
    throw forbidden({ permission });
  checkVersion(expected, 'team', team.version);
  return team;
}

async function claimSlug(tx: Transaction, tenantId: string, slug: string): Promise<string> {
  if ((await freeSlug(tx, tenantId, 'team', checkSlug(slug))) !== slug) throw slugTaken({ slug });
  return slug;
}
