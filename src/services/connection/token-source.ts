import type { Connection, ConnectionStatus } from '../../../entities/connection.ts';
import type { IssuedTokens } from '../../adapters/connection/oauth-client.ts';
import { capitalize } from '../../core/capitalize.ts';
import type { ConnectionTokens, TokenSource } from '../../core/connection.ts';
import type { Query } from '../../core/database.ts';
import { conflict } from '../../core/errors.ts';
import { FairGate } from '../../core/fair-gate.ts';
import { perPlatform } from '../../core/per-platform.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { NEVER_ABORTED } from '../../core/with-timeout.ts';
import { isActive } from '../resource/active-user.ts';
import { notify } from '../resource/notification.ts';
import { clientOf } from './connection-client.ts';
import { INTEGRATION_JSON, type StoredIntegration } from './integration-client.ts';

/** A connection, and the library or toolkit that it connects, for errors: `the library "Reports"`. */
type ConnectionKey = Pick<Connection, 'id' | 'tenantId'> & { target: string };

/** Time before its end at which a token is refreshed. */
const REFRESH_BEFORE_MS = 60_000;
/** Time for the call of the provider. */
const REFRESH_TIMEOUT_MS = 30_000;

/** Concurrent refreshes. Each has a database connection during the call of the provider. */
const REFRESH_GATE = FairGate.shared({
  places: 4,
  maxPerTenant: 2,
  maxWaiting: 1000,
  taskNoun: 'token refreshes',
});

/** The refreshes of this process by the id of the connection. */
const refreshesOf = perPlatform(() => new Map<string, Promise<string>>());

/**
 * Returns the source of the access token of a connection. A refresh is one call of the provider for all processes and
 * callers, and is stored before a caller gets its token.
 */
export const tokenSource =
  (platform: Platform, key: ConnectionKey): TokenSource =>
  async (refusedToken) => {
    const query: Query = (statement) => platform.database.query(key.tenantId, statement);
    const tokens = openTokens(platform, await load(query, key, ''));
    return isUsable(tokens, refusedToken) ? tokens.accessToken : refreshOnce(platform, key, refusedToken);
  };

interface StoredConnection extends Record<string, unknown> {
  status: ConnectionStatus;
  ownerId: string;
  kind: 'library' | 'toolkit';
  resourceId: string;
  name: string;
  sealedTokens: string;
  sealedClient: string | null;
  integration: StoredIntegration | null;
}

/** Loads a connection. Throws CONFLICT if it has ended or expired, or if its owner is disabled or locked. */
async function load(query: Query, { id, tenantId, target }: ConnectionKey, lock: '' | 'for update of c') {
  const [row] = await query<StoredConnection>({
    text: `
      select c.status, c.owner_id as "ownerId", case when l.id is null then 'toolkit' else 'library' end as kind,
        coalesce(l.id, t.id) as "resourceId", coalesce(l.name, t.name) as name, c.sealed_tokens as "sealedTokens",
        c.sealed_client as "sealedClient", case when i.id is not null then ${INTEGRATION_JSON} end as integration
      from dws.connection c
      join dws.app_user u on u.id = c.owner_id
      left join dws.library l on l.id = c.library_id
      left join dws.toolkit t on t.id = c.toolkit_id
      left join dws.integration i on i.id = c.integration_id
      where c.tenant_id = $1 and c.id = $2 and ${isActive('u')}
      ${lock}`,
    values: [tenantId, id],
  });
  if (!row) throw conflict(`${capitalize(target)} is not connected: authorize it first`);
  if (row.status === 'expired') throw hasExpired(target);
  return row;
}

const hasExpired = (target: string) => conflict(`The connection of ${target} has expired: authorize it again`);

const openTokens = ({ secrets }: Platform, { kind, name, sealedTokens }: StoredConnection): ConnectionTokens =>
  JSON.parse(secrets.open(sealedTokens, `the connection of the ${kind} "${name}"`)) as ConnectionTokens;

/** Returns whether a token need not be refreshed. A token that cannot be refreshed is used until its end. */
function isUsable({ accessToken, refreshToken, expiresAt }: ConnectionTokens, refusedToken?: string): boolean {
  const reserve = refreshToken === null ? 0 : REFRESH_BEFORE_MS;
  return accessToken !== refusedToken && (expiresAt === null || expiresAt - reserve > Date.now());
}

/** Refreshes the token of a connection, or waits for the refresh that runs, which may return the refused token. */
async function refreshOnce(platform: Platform, key: ConnectionKey, refusedToken: string | undefined): Promise<string> {
  const refreshes = refreshesOf(platform);
  const running = refreshes.get(key.id);
  if (running) {
    const token = await running;
    return token === refusedToken ? refreshOnce(platform, key, refusedToken) : token;
  }
  const caller = { tenantId: key.tenantId, userId: key.id };
  // A refresh is not bound to a caller, since several can wait for one.
  const refresh = REFRESH_GATE.run(caller, NEVER_ABORTED, () =>
    refreshInTransaction(platform, key, refusedToken, AbortSignal.timeout(REFRESH_TIMEOUT_MS)),
  ).finally(() => refreshes.delete(key.id));
  refreshes.set(key.id, refresh);
  return refresh;
}

/** Locks the connection and refreshes its token, unless another process did. */
async function refreshInTransaction(
  platform: Platform,
  key: ConnectionKey,
  refusedToken: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { AuthorizationEnded, refreshTokens } = await import('../../adapters/connection/oauth-client.ts');
  const result = await platform.database.transaction(key.tenantId, async (tx) => {
    const row = await load(tx.query, key, 'for update of c');
    const tokens = openTokens(platform, row);
    if (isUsable(tokens, refusedToken)) return { token: tokens.accessToken };
    try {
      const issued = await refreshTokens(platform.outbound, clientOf(platform, row), tokens, signal);
      await store(platform, tx, key, issued);
      return { token: issued.accessToken };
    } catch (error) {
      if (!(error instanceof AuthorizationEnded)) throw error;
      platform.log.info({ connectionId: key.id, reason: error.message }, 'A connection has expired');
      return { refused: row };
    }
  });
  if (result.token !== undefined) return result.token;
  await platform.database.transaction(key.tenantId, (tx) => expire(tx, key, result.refused));
  throw hasExpired(key.target);
}

async function store({ secrets }: Platform, tx: Transaction, key: ConnectionKey, issued: IssuedTokens): Promise<void> {
  const { refreshTokenExpiresAt, ...tokens } = issued;
  await tx.query({
    text: `
      update dws.connection
      set sealed_tokens = $3, token_expires_at = to_timestamp($4::float8 / 1000),
        refresh_token_expires_at = to_timestamp($5::float8 / 1000), version = version + 1, updated_at = now()
      where tenant_id = $1 and id = $2`,
    values: [key.tenantId, key.id, secrets.seal(JSON.stringify(tokens)), tokens.expiresAt, refreshTokenExpiresAt],
  });
}

/**
 * Marks a connection as expired and notifies its owner, unless another call did or it was authorized again. The owner is
 * locked first, as by the change that disables the owner and then deletes the connection.
 */
async function expire(
  tx: Transaction,
  { id, tenantId }: ConnectionKey,
  { ownerId, kind, resourceId, name, sealedTokens }: StoredConnection,
): Promise<void> {
  await tx.query({
    text: `select from dws.app_user where tenant_id = $1 and id = $2 for key share`,
    values: [tenantId, ownerId],
  });
  const expired = await tx.query({
    text: `
      update dws.connection set status = 'expired', version = version + 1, updated_at = now()
      where tenant_id = $1 and id = $2 and status = 'connected' and sealed_tokens = $3
      returning id`,
    values: [tenantId, id, sealedTokens],
  });
  if (expired.length === 0) return;
  await notify(tx, tenantId, [`user:${ownerId}`], {
    type: `${kind}.connection.expired`,
    message: `The connection of the ${kind} ${name} has expired. Authorize it again`,
    resource: { kind, id: resourceId },
  });
}
