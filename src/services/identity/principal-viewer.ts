import type { Authority } from '../../core/authority.ts';
import { refused } from '../../core/errors.ts';
import type { SystemDatabase } from '../../core/platform.ts';
import { actingPrincipal, idOfPrincipal, type Viewer } from '../../core/viewer.ts';
import { actingTeam } from '../resource/access-level.ts';
import { isActive } from '../resource/active-user.ts';
import { USER_COLUMNS, viewerOf, type UserRow } from './credential.ts';

/** The common part of these viewers. Like a token, they may do nothing that requires a session. */
const JOB_CREDENTIAL = {
  authMethod: 'job',
  scopes: new Set(['read', 'write'] as const),
  credentialId: '',
  expiresAt: null,
} as const;

/**
 * Returns the viewer who does the scheduled work of a user or a team. A team has its own rights and the rights that
 * shares grant it, but none of its members' rights; its `userId` is the id of the team. Throws FORBIDDEN with a
 * sentence for a deleted principal and for a user who is disabled or locked by an administrator.
 */
export const loadPrincipalViewer = (system: SystemDatabase, tenantId: string, principal: string): Promise<Viewer> =>
  (principal.startsWith('team:') ? loadTeamViewer : loadUserViewer)(system, tenantId, idOfPrincipal(principal));

/**
 * Returns the viewer of running work with the rights that they still have: never more than before. Throws FORBIDDEN
 * with a sentence if they can no longer act. This is so if the user or team was deleted, the user was disabled or
 * locked by an administrator, or the session or token that started the work has ended.
 */
export async function currentViewer(
  system: SystemDatabase,
  viewer: Viewer,
  credential: Authority['credential'],
): Promise<Viewer> {
  const [now, ended] = await Promise.all([
    loadPrincipalViewer(system, viewer.tenantId, actingPrincipal(viewer)),
    hasEnded(system, credential),
  ]);
  if (ended) throw refused(`The ${credential.authMethod} has ended`);
  return {
    ...viewer,
    principals: now.principals,
    teamRoles: now.teamRoles,
    superuser: viewer.superuser && now.superuser,
    permissions: new Set([...viewer.permissions].filter((permission) => now.permissions.has(permission))),
  };
}

/** Returns whether a session or token has ended, which includes that its user can no longer act. */
async function hasEnded(
  system: SystemDatabase,
  { authMethod, credentialId }: Authority['credential'],
): Promise<boolean> {
  if (authMethod !== 'session' && authMethod !== 'token') return false;
  const found = await system.query({
    text: `
      select
      from dws.${authMethod === 'session' ? 'session' : 'api_token'} c
      join dws.app_user u on u.id = c.user_id
      where c.id = $1 and (c.expires_at is null or c.expires_at > now()) and ${isActive('u')}`,
    values: [credentialId],
  });
  return found.length === 0;
}

/** Returns the principal of the id of a user or a team, as operations record who requested them. */
export async function principalOf(system: SystemDatabase, tenantId: string, id: string): Promise<string> {
  const teams = await system.query({
    text: `select from dws.team where tenant_id = $1 and id = $2`,
    values: [tenantId, id],
  });
  return `${teams.length > 0 ? 'team' : 'user'}:${id}`;
}

async function loadUserViewer(system: SystemDatabase, tenantId: string, userId: string): Promise<Viewer> {
  const [user] = await system.query<UserRow & { enabled: boolean; locked: boolean }>({
    text: `
      select u.enabled, u.admin_locked_at is not null as locked, ${USER_COLUMNS}
      from dws.app_user u
      join dws.tenant t on t.id = u.tenant_id
      where u.tenant_id = $1 and u.id = $2`,
    values: [tenantId, userId],
  });
  if (!user) throw refused('The user was deleted');
  if (!user.enabled) throw refused(`The user ${user.username} is disabled`);
  if (user.locked) throw refused(`The user ${user.username} is locked`);
  return viewerOf(user, JOB_CREDENTIAL);
}

async function loadTeamViewer(system: SystemDatabase, tenantId: string, teamId: string): Promise<Viewer> {
  const [team] = await system.query<{ name: string; tenant: string }>({
    text: `
      select t.name, n.slug as tenant
      from dws.team t
      join dws.tenant n on n.id = t.tenant_id
      where t.tenant_id = $1 and t.id = $2`,
    values: [tenantId, teamId],
  });
  if (!team) throw refused('The team was deleted');
  return {
    ...JOB_CREDENTIAL,
    ...actingTeam(tenantId, teamId),
    username: team.name,
    tenant: team.tenant,
    permissions: new Set(),
  };
}
