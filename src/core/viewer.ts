import { appRefused, refused } from './errors.ts';
import type { TeamRole } from './permissions.ts';

/**
 * The caller: one user of one tenant with one credential. Immutable except for the sliding `expiresAt` of a session and
 * the teams that the request itself creates or joins.
 */
export interface Viewer {
  userId: string;
  username: string;
  tenantId: string;
  /** The tenant's slug. */
  tenant: string;
  superuser: boolean;
  /** Principals of the viewer: `user:<id>`, and `team:<id>` for each of their teams. */
  principals: string[];
  teamRoles: Record<string, TeamRole>;
  permissions: ReadonlySet<string>;
  /**
   * How the caller authenticated. `job` is the scheduled work of a user or a team, without a credential. `app` is a
   * request of an app's handler: it has the rights of its caller except the ones that `refusesApps` names.
   */
  authMethod: 'session' | 'token' | 'job' | 'app';
  scopes: ReadonlySet<'read' | 'write' | 'documents'>;
  credentialId: string;
  expiresAt: Date | null;
  /** The client that the token names. Absent or null for others. See docs/contract/clients.md. */
  client?: string | null;
  /** Whether a private run sends the request: limits and places count it apart. See docs/contract/handlers.md#private-runs. */
  ofPrivateRun?: boolean;
}

/** Returns the key by which limits count what a user does. The private runs of the user have one of their own. */
export const limitKeyOf = ({ userId, ofPrivateRun }: { userId: string; ofPrivateRun?: boolean }): string =>
  ofPrivateRun ? `private ${userId}` : userId;

/** Returns the principal that a viewer acts as: `user:<id>`, or `team:<id>` for work that is done for a team. */
export const actingPrincipal = ({ principals }: Pick<Viewer, 'principals'>): string => principals[0]!;

/** Returns the id of a principal: of a user or a team. */
export const idOfPrincipal = (principal: string): string => principal.slice('user:'.length);

/** Returns the id of the acting user; null for a team. */
export const actingUserId = (viewer: Pick<Viewer, 'principals' | 'userId'>): string | null =>
  actingPrincipal(viewer).startsWith('team:') ? null : viewer.userId;

/** Returns the id of the acting user. Throws FORBIDDEN for a team: some things belong to users only. */
export function requireUser(viewer: Pick<Viewer, 'principals' | 'userId'>): string {
  const userId = actingUserId(viewer);
  if (userId === null) throw refused('Only users have this: the request comes from a team');
  return userId;
}

/** Throws FORBIDDEN for a handler of an app. Call it before a change of access rights. */
export function checkNoApp({ authMethod }: Pick<Viewer, 'authMethod'>): void {
  if (authMethod === 'app') throw appRefused();
}

/** Returns whether a principal is a user other than the viewer. */
export const isOtherUser = ({ userId }: Pick<Viewer, 'userId'>, principal: string): boolean =>
  principal.startsWith('user:') && principal !== `user:${userId}`;

/** Formats a principal for responses: users as their bare id, teams as `team:<id>`. */
export const printPrincipal = (principal: string): string => principal.replace(/^user:/, '');
