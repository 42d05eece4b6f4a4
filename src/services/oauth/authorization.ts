import { Connection } from '../../../entities/connection.ts';
import type { IssuedTokens } from '../../adapters/connection/oauth-client.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { ConnectionAccount, OAuthClient } from '../../core/connection.ts';
import type { Context, PublicContext } from '../../core/context.ts';
import { badInput, conflict, refused } from '../../core/errors.ts';
import { FairGate } from '../../core/fair-gate.ts';
import { newRow } from '../../core/new-row.ts';
import { quoteUpstream } from '../../core/outbound.ts';
import type { Transaction } from '../../core/platform.ts';
import {
  issuerDigestOf,
  redirectUriOf,
  storeAuthorization,
  takeAuthorization,
  type PendingAuthorization,
} from '../connection/authorization-state.ts';
import type { ConnectionTarget, TargetKey } from '../connection/connection-target.ts';
import { endConnections } from '../connection/end-connections.ts';
import { confirmRegistration } from '../connection/registered-client.ts';
import { lockCredential } from '../identity/credential-lock.ts';
import { loadLibraryTarget } from '../library/library-target.ts';
import { storeActivities } from '../resource/activity.ts';
import { loadToolkitTarget } from '../toolkit/toolkit-target.ts';

/** Concurrent callbacks that call a provider. */
const CALLBACK_GATE = FairGate.shared({ places: 16, maxWaiting: 200, taskNoun: 'authorizations' });

/**
 * Loads and locks the target of an authorization. Throws NOT_FOUND or FORBIDDEN unless the viewer may write it, and
 * CONFLICT for a library without an integration.
 */
export const loadTarget = (ctx: Context, tx: Transaction, { kind, id }: TargetKey): Promise<ConnectionTarget> =>
  kind === 'library' ? loadLibraryTarget(ctx, tx, id) : loadToolkitTarget(ctx, tx, id);

/** A started authorization: the URL that the user opens, and where the provider sends the browser then. */
export interface StartedAuthorization {
  url: string;
  redirectUri: string;
}

/**
 * Starts the authorization of a library or toolkit that the viewer may write. `client` is the client of a toolkit, found
 * for `configDigest`; a library has the client of its integration. Throws CONFLICT for a library without an integration,
 * and if the configuration no longer matches `configDigest`.
 */
export async function startAuthorization(
  ctx: Context,
  key: TargetKey,
  found?: { client: OAuthClient; configDigest: string },
): Promise<StartedAuthorization> {
  const { buildAuthorizationUrl, generateChecks } = await import('../../adapters/connection/oauth-client.ts');
  const target = await ctx.transaction((tx) => loadTarget(ctx, tx, key));
  const client = found?.client ?? target.client!;
  if (found && found.configDigest !== target.configDigest) throw changedMeanwhile();
  const checks = generateChecks();
  const redirectUri = redirectUriOf(ctx.platform, client);
  const url = await buildAuthorizationUrl(client, redirectUri, checks);
  const { configDigest, resource } = target;
  await storeAuthorization(ctx, { ...checks, target: { kind: key.kind, id: resource.id }, configDigest, client });
  return { url, redirectUri };
}

/**
 * Completes an authorization: exchanges the code of the callback for tokens and stores the connection. `parameters` is
 * the query string of the redirect from the provider, `issuerDigest` the part of the redirect URI that names the
 * authorization server. Returns the path that the browser opens next. Throws FORBIDDEN without a session of the user who
 * started it, BAD_USER_INPUT if the provider or the state refuses it or it came to the redirect URI of another server,
 * and CONFLICT if the integration or configuration has changed since.
 */
export async function finishAuthorization(
  publicCtx: PublicContext,
  parameters: string,
  issuerDigest: string | null,
): Promise<string> {
  const ctx = requireSession(publicCtx);
  const response = new URLSearchParams(parameters);
  const pending = await takeAuthorization(ctx, response.get('state') ?? '');
  const { kind, id } = pending.target;
  recordAuditTarget(ctx.request, kind, id, id);
  if (issuerDigest !== issuerDigestOf(pending.client)) throw wrongProvider();
  const code = readCode(response, pending);
  // Not yet the unit of work of the mutation: the provider may refuse the code.
  const target = await ctx.platform.database.transaction(ctx.viewer.tenantId, (tx) => loadPending(ctx, tx, pending));
  const { tokens, account } = await CALLBACK_GATE.run(ctx.viewer, ctx.request.signal, () =>
    callProvider(ctx, pending, target, code),
  );
  const revokeFormer = await ctx.transaction(async (tx) => {
    // The provider may have responded after the session ended.
    await lockCredential(ctx, tx);
    const current = await loadPending(ctx, tx, pending);
    return storeConnection(ctx, tx, { kind, current, client: pending.client, tokens, account });
  });
  await revokeFormer?.();
  return `/?connected=${id}`;
}

function requireSession(ctx: PublicContext): Context {
  if (ctx.viewer?.authMethod !== 'session')
    throw refused('Log in as the user who started this authorization, then open this page again');
  return ctx as Context;
}

const wrongProvider = () => badInput('This is the response of another provider than the one of the authorization');

/** Returns the code of a callback. Throws BAD_USER_INPUT for an error, and for the response of another provider. */
function readCode(response: URLSearchParams, { client: { issuer, issuerRequired } }: PendingAuthorization): string {
  const error = response.get('error');
  const description = response.get('error_description');
  const quoted = quoteUpstream([error, description].filter(Boolean).join(': '));
  if (error !== null) throw badInput(`The provider refused the authorization: ${quoted}`);
  const sender = response.get('iss');
  if (issuer != null && (sender === null ? issuerRequired : sender !== issuer)) throw wrongProvider();
  const code = response.get('code');
  if (!code) throw badInput('The provider sent no code');
  return code;
}

const changedMeanwhile = () =>
  conflict('The integration or configuration has changed since the authorization started. Start it again');

async function loadPending(ctx: Context, tx: Transaction, pending: PendingAuthorization): Promise<ConnectionTarget> {
  const target = await loadTarget(ctx, tx, pending.target);
  if (target.configDigest !== pending.configDigest) throw changedMeanwhile();
  return target;
}

async function callProvider(
  { platform, request: { signal } }: Context,
  { client, state, verifier }: PendingAuthorization,
  { readAccount }: ConnectionTarget,
  code: string,
): Promise<{ tokens: IssuedTokens; account: ConnectionAccount | null }> {
  const { redeemCode } = await import('../../adapters/connection/oauth-client.ts');
  const checks = { state, verifier };
  const tokens = await redeemCode(platform.outbound, client, redirectUriOf(platform, client), code, checks, signal);
  return { tokens, account: (await readAccount?.(tokens.accessToken, signal)) ?? null };
}

const toDate = (time: number | null): Date | null => (time === null ? null : new Date(time));

interface NewConnection {
  kind: TargetKey['kind'];
  current: ConnectionTarget;
  client: OAuthClient;
  tokens: IssuedTokens;
  account: ConnectionAccount | null;
}

/**
 * Stores an authorization in place of a former connection, and records it in the activity. A connection of another
 * account or client ends: a running sync must not continue with the files of this one. Returns the function that
 * revokes it.
 */
async function storeConnection(
  ctx: Context,
  tx: Transaction,
  { kind, current: { resource, integrationId }, client, tokens, account }: NewConnection,
): Promise<(() => Promise<void>) | undefined> {
  const { viewer, platform } = ctx;
  const { secrets } = platform;
  const { refreshTokenExpiresAt, ...stored } = tokens;
  const key = kind === 'library' ? { libraryId: resource.id } : { toolkitId: resource.id };
  const former = await tx.findOne(Connection, key, { lock: 'update' });
  const isSame = former !== null && (await isSameAccount(ctx, tx, former, { client, account }));
  const ended = former && !isSame ? await endConnections(ctx, tx, key) : undefined;
  const connection = isSame ? former : tx.insert(newRow(Connection, { tenantId: viewer.tenantId, ...key }));
  Object.assign(connection, {
    ownerId: viewer.userId,
    integrationId,
    status: 'connected',
    sealedTokens: secrets.seal(JSON.stringify(stored)),
    sealedClient: kind === 'toolkit' ? secrets.seal(JSON.stringify(client)) : null,
    account,
    tokenExpiresAt: toDate(tokens.expiresAt),
    refreshTokenExpiresAt: toDate(refreshTokenExpiresAt),
    lastAuthorizedAt: new Date(),
  } satisfies Partial<Connection>);
  if (kind === 'toolkit') await confirmRegistration(platform, tx, resource, client.clientId);
  const { id, name, ownerId } = resource;
  const message = `${viewer.username} connected ${name}`;
  storeActivities(tx, viewer, [{ kind, resource: { id, name, ownerId }, event: 'connected', message }]);
  return ended?.revoke;
}

/**
 * Returns whether a connection has the account of an authorization. The account of a toolkit is unknown: a user who
 * authorizes the same client again is assumed to use the same account. Revoking the tokens of the former authorization
 * would end the new one at servers that revoke all of the user's tokens for the client.
 */
async function isSameAccount(
  { viewer, platform: { secrets } }: Context,
  tx: Transaction,
  { id, toolkitId, ownerId, account: formerAccount }: Connection,
  { client, account }: Pick<NewConnection, 'client' | 'account'>,
): Promise<boolean> {
  if (!toolkitId) return formerAccount?.accountId === account?.accountId;
  const [row] = await tx.query<{ sealed: string }>({
    text: `select sealed_client as sealed from dws.connection where tenant_id = $1 and id = $2`,
    values: [viewer.tenantId, id],
  });
  const former = JSON.parse(secrets.open(row!.sealed, 'the client of the former connection')) as OAuthClient;
  return ownerId === viewer.userId && former.clientId === client.clientId && former.tokenUri === client.tokenUri;
}
