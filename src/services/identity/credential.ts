import { hash, randomBytes } from 'node:crypto';
import type { GlobalPermission, TeamRole } from '../../core/permissions.ts';
import type { SystemDatabase } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';

/** 12 hours after the last use, 30 days after the login (contract 2). Milliseconds. */
export const SESSION_SLIDING = 12 * 3_600_000;
export const SESSION_ABSOLUTE = 30 * 86_400_000;

/** SHA-256 of a credential: what is stored and looked up. */
export const digest = (secret: string): string => hash('sha256', secret, 'base64url');

/** An opaque random value of 256 bits, 43 characters of base64url. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');

/** What a request brings: the value of the session cookie, or of `Authorization: Bearer`. */
export interface Credential {
  method: 'session' | 'token';
  secret: string;
}

interface Found {
  credential_id: string;
  expires_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
  scopes: ('read' | 'write')[];
  user_id: string;
  username: string;
  superuser: boolean;
  permissions: GlobalPermission[];
  tenant_id: string;
  tenant: string;
  teams: Record<string, TeamRole>;
}

const caller = `u.id as user_id, u.username, u.superuser, u.permissions, t.id as tenant_id, t.slug as tenant,
  coalesce((select json_object_agg(m.team_id, m.role) from dws.team_member m where m.user_id = u.id), '{}') as teams`;
const LOOKUP = {
  session: {
    name: 'credential_session',
    text: `select c.id as credential_id, c.expires_at, c.last_used_at, c.created_at, '["read","write"]'::jsonb as scopes, ${caller}
    from dws.session c join dws.app_user u on u.id = c.user_id join dws.tenant t on t.id = u.tenant_id
    where c.token_hash = $1 and c.expires_at > now() and c.created_at > now() - ${SESSION_ABSOLUTE / 1000} * interval '1 s' and u.enabled`,
  },
  token: {
    name: 'credential_token',
    text: `select c.id as credential_id, c.expires_at, c.last_used_at, c.created_at, c.scopes, ${caller}
    from dws.api_token c join dws.app_user u on u.id = c.user_id join dws.tenant t on t.id = u.tenant_id
    where c.token_hash = $1 and (c.expires_at is null or c.expires_at > now()) and u.enabled`,
  },
};

/** A viewer with the times of their credential in milliseconds. */
export interface Identified {
  viewer: Viewer;
  touchedAt: number;
  createdAt: number;
}

/** Who a credential belongs to, fresh from the database; null when it is not valid. */
export async function findViewer(system: SystemDatabase, { method, secret }: Credential): Promise<Identified | null> {
  const [found] = await system.query<Found & Record<string, unknown>>({ ...LOOKUP[method], values: [digest(secret)] });
  return found
    ? {
        viewer: viewerOf(found, method),
        touchedAt: found.last_used_at?.getTime() ?? 0,
        createdAt: found.created_at.getTime(),
      }
    : null;
}

function viewerOf(found: Found, authMethod: Credential['method']): Viewer {
  return {
    userId: found.user_id,
    username: found.username,
    tenantId: found.tenant_id,
    tenant: found.tenant,
    superuser: found.superuser,
    principals: [`user:${found.user_id}`, ...Object.keys(found.teams).map((id) => `team:${id}`)],
    teamRoles: found.teams,
    permissions: new Set(found.permissions),
    authMethod,
    scopes: new Set(found.scopes),
    credentialId: found.credential_id,
    expiresAt: found.expires_at,
  };
}
