import type { CreateTeamInput, UpdateTeamInput } from '../../../entities/team-input.ts';
import { TeamMember } from '../../../entities/team-member.ts';
import { Team } from '../../../entities/team.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { assignPresent, checkOptionalText, checkText, invalid } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import type { TeamRole } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkVersion } from '../resource/load-resource.ts';
import { resolvePrincipal } from '../resource/resolve-ids.ts';
import { setSlug } from '../resource/resource-slug.ts';
import { addTeamToViewer, invalidateCredentials } from './credential-invalidation.ts';
import { loadTeam } from './team-access.ts';
import { loadUser } from './user-lookup.ts';
import { transferContent } from './user.ts';

const TEAM = { table: 'team' };

/** Creates a team with the viewer as its first admin. Returns the id. Throws CONFLICT if the given slug is in use. */
export async function create(ctx: Context, input: CreateTeamInput): Promise<string> {
  const { tenantId, userId } = ctx.viewer;
  const name = checkText(input.name, 'name');
  const teamId = await ctx.transaction(async (tx) => {
    const description = checkOptionalText(input.description ?? null, 'description');
    const team = newRow(Team, { tenantId, name, description });
    await setSlug(tx, TEAM, team, input.slug);
    tx.insert(team);
    tx.insert(newRow(TeamMember, { tenantId, teamId: team.id, userId, role: 'admin' }));
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
    if (slug != null && slug !== team.slug) await setSlug(tx, TEAM, team, slug);
    return team.id;
  });
}

/**
 * Deletes a team and transfers its resources to `transferTo`, by default to the viewer. See
 * docs/contract/resources.md#owners.
 */
export async function remove(ctx: Context, id: string, transferTo?: string | null): Promise<void> {
  const members = await ctx.transaction(async (tx) => {
    const team = await loadTeam(ctx, tx, id, 'team:delete', { ifMatch: ctx.ifMatch });
    const newOwner = transferTo
      ? await resolvePrincipal(tx, ctx.viewer.tenantId, transferTo)
      : `user:${ctx.viewer.userId}`;
    if (newOwner === `team:${team.id}`) throw invalid('transferTo', 'must not be the deleted team');
    await transferContent(ctx, tx, `team:${team.id}`, newOwner);
    const rows = await tx.query<{ user_id: string }>({
      text: `select user_id from dws.team_member where tenant_id = $1 and team_id = $2`,
      values: [ctx.viewer.tenantId, team.id],
    });
    tx.remove(team);
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
    else tx.insert(newRow(TeamMember, { tenantId: ctx.viewer.tenantId, teamId: team.id, userId: user.id, role }));
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
    tx.remove(member);
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
  const member = await tx.findOne(TeamMember, { teamId: team.id, userId: user.id });
  checkVersion(ctx, 'member', member?.version ?? 0);
  return { team, user, member };
}
