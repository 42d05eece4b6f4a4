import type { Context, PublicContext } from '../../core/context.ts';
import { CHANNELS } from '../../core/operations.ts';
import type { TeamRole } from '../../core/permissions.ts';

/**
 * Drops the cached credentials of users in this process, so that the next request sees their changed permissions. Call
 * it after the commit. Database triggers notify the other processes.
 */
export function invalidateCredentials({ platform }: Pick<PublicContext, 'platform'>, userIds: readonly string[]): void {
  for (const userId of userIds) platform.notifications.notifyLocally(CHANNELS.credential, userId);
}

/** Adds a team to the viewer of the current request, which was authenticated before the viewer joined it. */
export function addTeamToViewer({ viewer }: Context, teamId: string, role: TeamRole): void {
  viewer.teamRoles[teamId] = role;
  if (!viewer.principals.includes(`team:${teamId}`)) viewer.principals.push(`team:${teamId}`);
}
