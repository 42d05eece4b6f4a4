import type { Query } from '../../core/database.ts';
import { LOGIN_LOCK_MINUTES } from './credential.ts';

const STATEMENTS = [
  `delete from dws.session where expires_at < now()`,
  `delete from dws.api_token where expires_at < now() - interval '30 days'`,
  `delete from dws.login_attempt where at < now() - interval '${LOGIN_LOCK_MINUTES} minutes'`,
  `delete from dws.used_login where at < now() - interval '1 hour'`,
  `delete from dws.rate_count where at < now() - interval '2 minutes'`,
  `delete from dws.known_address where seen_at < now() - interval '30 days'`,
];

/** Deletes expired sessions and tokens, and the outdated records of login attempts, used logins, call
 * counts and known addresses. */
export async function deleteExpiredCredentials(query: Query): Promise<void> {
  for (const text of STATEMENTS) await query({ text });
}

/**
 * Deletes the sessions, then the tokens of a user. In this order, because creating a token locks the session that
 * creates it.
 */
export async function deleteCredentials(query: Query, tenantId: string, userId: string): Promise<void> {
  await deleteSessions(query, tenantId, userId);
  await query({
    text: `delete from dws.api_token where tenant_id = $1 and user_id = $2`,
    values: [tenantId, userId],
  });
}

/** Deletes the sessions of a user. */
export async function deleteSessions(query: Query, tenantId: string, userId: string): Promise<void> {
  await query({
    text: `delete from dws.session where tenant_id = $1 and user_id = $2`,
    values: [tenantId, userId],
  });
}
