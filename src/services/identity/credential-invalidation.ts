import type { Context, PublicContext } from '../../core/context.ts';
import { CHANNELS } from '../../core/operations.ts';
import type { TeamRole } from '../../core/permissions.ts';

/**
 * Says, after the change is committed, that rights or credentials of users changed: the next request to this process sees it. Triggers tell the
 * other processes.
 */
export function credentialsChanged({ platform }: PublicContext, userIds: readonly string[]): void {
  for (const userId of userIds) platform.notifications.notifyLocally(CHANNELS.credential, userId);
}

/** Lets the rest of the viewer's own request know of a team they have just become part of. */
export function joinedTeam({ viewer }: Context, teamId: string, role: TeamRole): void {
  viewer.teamRoles[teamId] = role;
  if (!viewer.principals.includes(`team:${teamId}`)) viewer.principals.push(`team:${teamId}`);
}
