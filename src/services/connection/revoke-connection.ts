import type { ConnectionTokens, OAuthClient } from '../../core/connection.ts';
import type { Platform } from '../../core/platform.ts';
import { clientOf } from './connection-client.ts';
import type { EndedConnection } from './end-connections.ts';
import { driveOf } from './integration-client.ts';

/** Time for the revocation of one connection. */
const REVOKE_TIMEOUT_MS = 10_000;

/**
 * Revokes the tokens of a connection that was deleted, at its provider, unless another connection needs them. Never
 * fails: failures are logged, and so are revocations that `signal` ends.
 */
export async function revokeConnection(
  platform: Platform,
  connection: EndedConnection,
  signal: AbortSignal,
): Promise<void> {
  try {
    signal.throwIfAborted();
    if (await isShared(platform, connection)) return;
    const client = clientOf(platform, connection);
    const tokens = JSON.parse(platform.secrets.open(connection.sealedTokens, 'its tokens')) as ConnectionTokens;
    await revoke(
      platform,
      connection,
      client,
      tokens,
      AbortSignal.any([signal, AbortSignal.timeout(REVOKE_TIMEOUT_MS)]),
    );
  } catch (error) {
    const { id, kind, resourceId } = connection;
    platform.log.warn({ err: error, connectionId: id, [`${kind}Id`]: resourceId }, 'Could not revoke a connection');
  }
}

/**
 * Returns whether another connection has the same client and account, even by another integration: Google revokes all
 * of their tokens with one.
 */
async function isShared(
  { database }: Platform,
  { tenantId, integration, accountId }: EndedConnection,
): Promise<boolean> {
  if (!integration || accountId === null) return false;
  const others = await database.query(tenantId, {
    text: `
      select from dws.connection c join dws.integration i on i.id = c.integration_id
      where c.tenant_id = $1 and i.type = $2 and i.client_id = $3 and c.account->>'accountId' = $4 limit 1`,
    values: [tenantId, integration.type, integration.clientId, accountId],
  });
  return others.length > 0;
}

async function revoke(
  platform: Platform,
  { integration }: EndedConnection,
  client: OAuthClient,
  tokens: ConnectionTokens,
  signal: AbortSignal,
): Promise<void> {
  const { outbound } = platform;
  const { refreshTokens, revokeToken } = await import('../../adapters/connection/oauth-client.ts');
  const drive = integration ? driveOf(platform, integration) : null;
  if (!drive?.revoke) {
    if (client.revokeUri !== null) await revokeToken(outbound, client, tokens, signal);
    return;
  }
  const { apiUri, contentUri } = integration!;
  // The drive accepts only an access token, which may have ended.
  const hasEnded = tokens.expiresAt !== null && tokens.expiresAt <= Date.now();
  const { accessToken } =
    hasEnded && tokens.refreshToken !== null ? await refreshTokens(outbound, client, tokens, signal) : tokens;
  await drive.revoke({ outbound, apiUri, contentUri, token: () => Promise.resolve(accessToken), signal });
}
