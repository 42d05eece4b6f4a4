import { recordAuditTarget } from '../../core/audit.ts';
import type { PublicContext } from '../../core/context.ts';
import { newId } from '../../core/id.ts';
import { digest, generateSecret } from '../../core/secret.ts';
import { isActive } from '../resource/active-user.ts';
import { actorOf, recordAuditInTransaction } from '../resource/audit.ts';
import { invalidateCredentials } from './credential-invalidation.ts';
import { SESSION_SLIDING_MS, LOGIN_LOCK_MINUTES } from './credential.ts';

/** A user who has proved who they are. */
export interface SessionUser {
  id: string;
  tenantId: string;
  username: string;
  /** Whether the user stays locked for other addresses. */
  isLocked: boolean;
  proof: LoginProof;
}

/** The values that were checked when a user proved who they are. */
export type LoginProof =
  | { passwordHash: string; domain: string }
  /** The identity provider, and the version of its record. */
  | { provider: { id: string; version: number } };

/**
 * Returns the SQL condition that the users of a domain log in at an identity provider, and so not with a password. `alias`
 * is the alias of `dws.app_user`.
 */
export const hasProvider = (alias: string): string => `exists (
  select from dws.identity_provider p
  where p.tenant_id = ${alias}.tenant_id and lower(p.domain) = lower(${alias}.domain) and p.enabled
)`;

/**
 * Returns the SQL condition that a proof still holds for the user `u`, with its values from `$2` on. Checking a password and
 * calling a provider take time, in which the password, the domain or the provider may change.
 */
function stillHolds(proof: LoginProof): { text: string; values: unknown[] } {
  if ('passwordHash' in proof)
    return {
      text: `u.password_hash = $2 and u.domain = $3 and coalesce(u.password_expires_at > now(), true) and not ${hasProvider('u')}`,
      values: [proof.passwordHash, proof.domain],
    };
  return {
    text: `not u.superuser
      and coalesce(u.locked_at + interval '${LOGIN_LOCK_MINUTES} minutes' <= now(), true)
      and exists (
        select from dws.identity_provider p
        where p.id = $2 and p.version = $3 and lower(p.domain) = lower(u.domain)
      )`,
    values: [proof.provider.id, proof.provider.version],
  };
}

/** Creates a session. Returns null if the user is no longer active, or the proof no longer holds. */
export async function openSession(
  { platform, request }: PublicContext,
  user: SessionUser,
): Promise<{ secret: string; expiresAt: Date } | null> {
  const secret = generateSecret();
  const sessionId = newId();
  const expiresAt = new Date(Date.now() + SESSION_SLIDING_MS);
  const proof = stillHolds(user.proof);
  return platform.system.transaction(async (query) => {
    // Changes of users that end a proof update this row first, and then delete the sessions. A provider that is enabled for
    // the domain at this moment leaves the session open, as it does those opened before.
    const [proved] = await query({
      text: `select id from dws.app_user u where id = $1 and ${isActive('u')} and ${proof.text} for no key update`,
      values: [user.id, ...proof.values],
    });
    if (!proved) return null;
    await query({
      text: `
        insert into dws.session
          (id, tenant_id, user_id, token_hash, address, user_agent, last_used_at, expires_at)
        values ($1, $2, $3, $4, $5, $6, now(), $7)`,
      values: [sessionId, user.tenantId, user.id, digest(secret), request.address, request.userAgent, expiresAt],
    });
    await query({
      text: `
        insert into dws.known_address (tenant_id, user_id, address, seen_at) values ($1, $2, $3, now())
        on conflict (user_id, address) do update set seen_at = now()`,
      values: [user.tenantId, user.id, request.address],
    });
    // A user who is locked stays locked for other addresses. Otherwise a success resets the count of failures.
    if (!user.isLocked)
      await query({
        text: `
          update dws.app_user set login_attempts = 0, locked_at = null
          where id = $1 and (login_attempts > 0 or locked_at is not null)`,
        values: [user.id],
      });
    recordAuditTarget(request, 'user', request.mutation?.key ?? '', user.id);
    await recordAuditInTransaction(query, request, {
      tenant: { id: user.tenantId },
      userId: user.id,
      username: user.username,
      sessionId,
    });
    return { secret, expiresAt };
  });
}

/** Ends the session of the request, if it has one, and clears the cookie. */
export async function logout(ctx: PublicContext): Promise<void> {
  const { viewer, platform, request } = ctx;
  if (viewer?.authMethod === 'session') {
    await platform.system.transaction(async (query) => {
      await query({ text: `delete from dws.session where id = $1`, values: [viewer.credentialId] });
      await recordAuditInTransaction(query, request, actorOf(viewer));
    });
    invalidateCredentials(ctx, [viewer.userId]);
  }
  request.setSession(null);
}
