import type { Toolkit } from '../../../entities/toolkit.ts';
import type { OAuthClient } from '../../core/connection.ts';
import type { Context } from '../../core/context.ts';
import { badInput, conflict, notFound } from '../../core/errors.ts';
import { FairGate } from '../../core/fair-gate.ts';
import type { McpServer, RegisteredClient } from '../../core/mcp.ts';
import { redirectUriOf } from '../connection/authorization-state.ts';
import { loadRegistration, storeRegistration } from '../connection/registered-client.ts';
import { tokenSource } from '../connection/token-source.ts';
import { loadToolkitSecrets } from './toolkit-config.ts';
import type { RemoteConfig } from './toolkit-driver.ts';

/** Concurrent calls of MCP servers. */
const SERVER_GATE = FairGate.shared({ places: 16, maxWaiting: 200, taskNoun: 'calls of MCP servers' });

/** Runs a call of an MCP server. A process runs a limited number of them concurrently. */
export const callServer = <T>({ viewer, request: { signal } }: Context, call: (signal: AbortSignal) => Promise<T>) =>
  SERVER_GATE.run(viewer, signal, () => call(signal));

/** Throws BAD_USER_INPUT unless the service itself calls the server of a toolkit. */
export function checkRemote({ name, type }: Toolkit): void {
  if (type !== 'mcp-remote')
    throw badInput(
      `The service calls servers of toolkits of the type mcp-remote only; "${name}" is of the type ${type}`,
    );
}

/** Returns the server of a toolkit of the type `mcp-remote`, with its secrets and the token of its connection. */
export async function loadServer({ platform }: Context, toolkit: Toolkit): Promise<McpServer> {
  const { url, transport, headers } = await loadRemoteConfig(platform, toolkit);
  const { tenantId, id, name } = toolkit;
  const [connection] = await platform.database.query<{ id: string }>(tenantId, {
    text: `select id from dws.connection where tenant_id = $1 and toolkit_id = $2`,
    values: [tenantId, id],
  });
  const token = connection && tokenSource(platform, { tenantId, id: connection.id, target: `the toolkit "${name}"` });
  return { url, transport, headers, token: token ?? null };
}

/**
 * Finds the authorization server of a toolkit, and registers this service there unless it is already registered, or
 * `config.oauth` names a client. A named client stays bound to the authorization server that it was used at: CONFLICT
 * for another one. Otherwise throws like `checkRemote` and `McpClient.createOAuthClient`.
 */
export async function createToolkitClient(ctx: Context, toolkit: Toolkit): Promise<OAuthClient> {
  checkRemote(toolkit);
  const { url, transport, headers, oauth } = await loadRemoteConfig(ctx.platform, toolkit);
  const configured = oauth
    ? { clientId: oauth.clientId, clientSecret: oauth.clientSecret || null, scope: oauth.scope || null }
    : null;
  const stored = await loadRegistration(ctx.platform, toolkit);
  const known = {
    configured,
    registered: configured ? null : stored,
    redirectUriOf: (issuer: string) => redirectUriOf(ctx.platform, { issuer }),
  };
  const server = { url, transport, headers, token: null };
  const { client, registered } = await callServer(ctx, (signal) =>
    ctx.platform.mcp.createOAuthClient(server, known, signal),
  );
  const { clientId, issuer = null, scope } = client;
  if (configured) checkIssuer(toolkit, stored, issuer);
  const used = registered ?? {
    clientId,
    clientSecret: null,
    issuer: issuer ?? '',
    redirectUri: redirectUriOf(ctx.platform, client),
    scope,
    expiresAt: null,
  };
  await storeRegistration(ctx.platform, toolkit, used, configured ? stored !== null : registered === stored);
  return client;
}

/** Throws CONFLICT if the server of a toolkit now names another authorization server, which would get the stored secret. */
function checkIssuer({ name }: Toolkit, stored: RegisteredClient | null, issuer: string | null): void {
  if (stored && stored.issuer !== issuer)
    throw conflict(
      `The MCP server of the toolkit "${name}" names another authorization server than before: "${issuer}" instead of ` +
        `"${stored.issuer}". Set config.oauth.clientSecret again if it is right`,
    );
}

async function loadRemoteConfig(platform: Context['platform'], toolkit: Toolkit): Promise<RemoteConfig> {
  const config = await loadToolkitSecrets(platform, toolkit);
  if (!config) throw notFound({ what: 'toolkit', id: toolkit.id });
  return config as unknown as RemoteConfig;
}
