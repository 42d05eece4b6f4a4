import { Team } from '../../../entities/team.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { forbidden, notFound } from '../../core/errors.ts';
import type { Transaction } from '../../core/platform.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import type { Viewer } from '../../core/viewer.ts';
import { checkVersion, resourceKey, type ExpectedVersion } from '../resource/load-resource.ts';

type TeamPermission = 'team:read' | 'team:edit' | 'team:delete' | 'team:participate';

/**
 * Returns whether the viewer has a permission on a team of their tenant. All users have `team:read`, members
 * `team:participate`, admins of the team and superusers all. See docs/contract/people.md#teams.
 */
export function isTeamAllowed(
  { superuser, teamRoles }: Pick<Viewer, 'superuser' | 'teamRoles'>,
  teamId: string,
  permission: TeamPermission,
): boolean {
  if (superuser || permission === 'team:read') return true;
  const role = Object.hasOwn(teamRoles, teamId) ? teamRoles[teamId] : undefined;
  return permission === 'team:participate' ? role !== undefined : role === 'admin';
}

/** Throws FORBIDDEN unless the viewer has a permission on a team of their tenant. */
export function checkTeamPermission(viewer: Viewer, teamId: string, permission: TeamPermission): void {
  if (!isTeamAllowed(viewer, teamId, permission)) throw forbidden({ permission });
}

/** Filters rows with the column `team_id`: rows of the teams in which the viewer participates. */
export const throughParticipation: AccessFilter = ({ superuser, teamRoles }) =>
  superuser ? null : { sql: 'r.team_id = any(?)', params: [Object.keys(teamRoles)] };

/**
 * Loads a team by id, slug or natural id and locks it: against every change, or for `team:participate` only against its
 * deletion. Throws NOT_FOUND for an unknown team and FORBIDDEN without the permission.
 */
export async function loadTeam(
  ctx: Context,
  tx: Transaction,
  id: string,
  permission: TeamPermission,
  expected: ExpectedVersion = {},
): Promise<Team> {
  const { viewer } = ctx;
  const lock = permission === 'team:participate' ? 'key share' : 'update';
  const team = await tx.findOne(Team, resourceKey(viewer, id), { lock });
  if (!team) throw notFound({ what: 'team', id });
  recordAuditTarget(ctx.request, 'team', id, team.id);
  checkTeamPermission(viewer, team.id, permission);
  checkVersion(expected, 'team', team.version);
  return team;
}
