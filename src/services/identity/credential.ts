import type { TokenScope } from '../../../entities/api-token.ts';
import type { GlobalPermission, TeamRole } from '../../core/permissions.ts';
import type { SystemDatabase } from '../../core/platform.ts';
import { digest } from '../../core/secret.ts';
import type { Viewer } from '../../core/viewer.ts';
import { isActive } from '../resource/active-user.ts';

/** Minutes that failed logins lock a user for. */
export const LOGIN_LOCK_MINUTES = 15;

/** Lifetime of a session after its last use. See docs/contract/access.md#sessions. */
export const SESSION_SLIDING_MS = 12 * 3_600_000;
/** Lifetime of a session after the login. */
export const SESSION_ABSOLUTE_MS = 30 * 86_400_000;

/** The credential of a request: the value of the session cookie or of `Authorization: Bearer`. */
export interface Credential {
  method: 'session' | 'token';
  secret: string;
}

interface CredentialRow extends UserRow {
  credential_id: string;
  expires_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
  scopes: TokenScope[];
  client: string | null;
}

/** A user with the columns that determine their rights. */
export interface UserRow extends Record<string, unknown> {
  user_id: string;
  username: string;
  superuser: boolean;
  permissions: GlobalPermission[];
  tenant_id: string;
  tenant: string;
  teams: Record<string, TeamRole>;
}

/** Selects the columns of `UserRow`, of the user `u` of the tenant `t`. */
export const USER_COLUMNS = `
  u.id as user_id, u.username, u.superuser, u.permissions, t.id as tenant_id, t.slug as tenant,
  coalesce(
    (select json_object_agg(m.team_id, m.role) from dws.team_member m where m.user_id = u.id), '{}'
  ) as teams`;

const LOOKUP = {
  session: {
    name: 'credential_session',
    text: `
      select c.id as credential_id, c.expires_at, c.last_used_at, c.created_at,
        '["read","write"]'::jsonb as scopes, null as client, ${USER_COLUMNS}
      from dws.session c
      join dws.app_user u on u.id = c.user_id
      join dws.tenant t on t.id = u.tenant_id
      where c.token_hash = $1
        and c.expires_at > now()
        and c.created_at > now() - ${SESSION_ABSOLUTE_MS / 1000} * interval '1 s'
        and ${isActive('u')}`,
  },
  token: {
    name: 'credential_token',
    text: `
      select c.id as credential_id, c.expires_at, c.last_used_at, c.created_at, c.scopes, c.client, ${USER_COLUMNS}
      from dws.api_token c
      join dws.app_user u on u.id = c.user_id
      join dws.tenant t on t.id = u.tenant_id
      where c.token_hash = $1
        and (c.expires_at is null or c.expires_at > now())
        and ${isActive('u')}`,
  },
};

/** A viewer with the times of their credential, in milliseconds since the epoch. */
export interface AuthenticatedViewer {
  viewer: Viewer;
  /** 0 if the credential was never used. */
  lastUsedAt: number;
  createdAt: number;
}

/** Loads the viewer of a credential from the database. Returns null if the credential is not valid. */
export async function findViewer(
  system: SystemDatabase,
  { method, secret }: Credential,
): Promise<AuthenticatedViewer | null> {
  const [row] = await system.query<CredentialRow>({
    ...LOOKUP[method],
    values: [digest(secret)],
  });
  if (!row) return null;
  return {
    viewer: viewerOf(row, {
      authMethod: method,
      scopes: new Set(row.scopes),
      credentialId: row.credential_id,
      expiresAt: row.expires_at,
      client: row.client,
    }),
    lastUsedAt: row.last_used_at?.getTime() ?? 0,
    createdAt: row.created_at.getTime(),
  };
}

/** Returns the viewer of a user with a credential, or of a user who acts without one. */
export function viewerOf(
  row: UserRow,
  credential: Pick<Viewer, 'authMethod' | 'scopes' | 'credentialId' | 'expiresAt' | 'client'>,
): Viewer {
  return {
    userId: row.user_id,
    username: row.username,
    tenantId: row.tenant_id,
    tenant: row.tenant,
    superuser: row.superuser,
    principals: [`user:${row.user_id}`, ...Object.keys(row.teams).map((id) => `team:${id}`)],
    teamRoles: row.teams,
    permissions: new Set(row.permissions),
    ...credential,
  };
}
