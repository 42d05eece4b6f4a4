import type { TeamRole } from './permissions.ts';

/** Who is calling: one user in one tenant, by one credential. Immutable but for a session's sliding `expiresAt`. */
export interface Viewer {
  userId: string;
  username: string;
  tenantId: string;
  /** The tenant's slug. */
  tenant: string;
  superuser: boolean;
  /** `user:<id>` of the viewer and `team:<id>` of each of their teams. */
  principals: string[];
  teamRoles: Record<string, TeamRole>;
  permissions: ReadonlySet<string>;
  authMethod: 'session' | 'token';
  scopes: ReadonlySet<'read' | 'write'>;
  credentialId: string;
  expiresAt: Date | null;
}

/** As answers spell principals: users by their bare id, teams as `team:<id>` (contract 3). */
export const printPrincipal = (principal: string): string => principal.replace(/^user:/, '');
