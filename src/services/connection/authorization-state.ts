import type { AuthorizationChecks } from '../../adapters/connection/oauth-client.ts';
import type { OAuthClient } from '../../core/connection.ts';
import type { Context } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import { badInput, refused } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import { digest } from '../../core/secret.ts';
import type { TargetKey } from './connection-target.ts';

/** Time from the start of an authorization to its callback. */
export const AUTHORIZATION_LIFETIME_MS = 600_000;

/**
 * Returns the part of a redirect URI that names the authorization server of a client; null for the client of an
 * integration, whose providers administrators choose. Each server that users name has a redirect URI of its own, so that
 * it never gets the code of another one (RFC 9700, 4.4.2.2).
 */
export const issuerDigestOf = ({ issuer }: Pick<OAuthClient, 'issuer'>): string | null =>
  issuer == null ? null : digest(issuer);

/** Returns the redirect URI of a client, with which it is registered at its authorization server. */
export function redirectUriOf({ publicUrl }: Pick<Platform, 'publicUrl'>, client: Pick<OAuthClient, 'issuer'>): string {
  const issuerDigest = issuerDigestOf(client);
  return `${publicUrl}/api/oauth/callback${issuerDigest === null ? '' : `/${issuerDigest}`}`;
}

/** The state of an authorization until its callback. */
export interface PendingAuthorization extends AuthorizationChecks {
  target: TargetKey;
  configDigest: string;
  client: OAuthClient;
}

/** Stores an authorization under the digest of its state. */
export async function storeAuthorization(ctx: Context, pending: PendingAuthorization): Promise<void> {
  const { kind, id } = pending.target;
  await ctx.query({
    text: `
      insert into dws.oauth_state (state_hash, tenant_id, user_id, ${kind}_id, sealed, expires_at)
      values ($1, $2, $3, $4, $5, now() + $6 * interval '1 ms')`,
    values: [
      digest(pending.state),
      ctx.viewer.tenantId,
      ctx.viewer.userId,
      id,
      ctx.platform.secrets.seal(JSON.stringify(pending)),
      AUTHORIZATION_LIFETIME_MS,
    ],
  });
}

/**
 * Takes the authorization of a state, which works once. Throws FORBIDDEN if another user started it, who can still
 * complete it, and BAD_USER_INPUT for an unknown state.
 */
export async function takeAuthorization(ctx: Context, state: string): Promise<PendingAuthorization> {
  const values = [ctx.viewer.tenantId, digest(state)];
  const [taken] = await ctx.query<{ sealed: string; isLate: boolean }>({
    text: `
      delete from dws.oauth_state where tenant_id = $1 and state_hash = $2 and user_id = $3
      returning sealed, expires_at <= now() as "isLate"`,
    values: [...values, ctx.viewer.userId],
  });
  if (taken && !taken.isLate)
    return JSON.parse(ctx.platform.secrets.open(taken.sealed, 'the authorization')) as PendingAuthorization;
  const [other] = taken
    ? []
    : await ctx.query({ text: `select from dws.oauth_state where tenant_id = $1 and state_hash = $2`, values });
  if (other) throw refused('Another user started this authorization. Log in as that user and open this page again');
  throw badInput('This authorization is unknown, took more than ten minutes or was already used. Start it again');
}

/** Deletes authorizations whose callback came too late or never. */
export async function sweepAuthorizations(query: Query): Promise<void> {
  await query({ text: `delete from dws.oauth_state where expires_at < now()` });
}
