import { appRefused } from './errors.ts';
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
   * How the caller authenticated. `job` is the scheduled work of a user or a team, without a credential. `app` is a request
   * of an app's handler: it has the rights of its caller without what `refusesApps` names.
   */
  authMethod: 'session' | 'token' | 'job' | 'app';
  scopes: ReadonlySet<'read' | 'write'>;
  credentialId: string;
  expiresAt: Date | null;
}

/** Throws FORBIDDEN for a handler of an app. Call it before a change of who may do what. */
export function checkNoApp({ authMethod }: Pick<Viewer, 'authMethod'>): void {
  if (authMethod === 'app') throw appRefused();
}

/** Formats a principal for responses: users as their bare id, teams as `team:<id>`. */
export const printPrincipal = (principal: string): string => principal.replace(/^user:/, '');
