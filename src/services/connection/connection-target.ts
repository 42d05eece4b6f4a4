import { LIBRARY, TOOLKIT } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import type { ConnectionAccount, OAuthClient } from '../../core/connection.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { digest } from '../identity/credential.ts';
import { driveOf, INTEGRATION_JSON, oauthClientOf, type StoredIntegration } from '../library/library-client.ts';
import { loadResource, type ExpectedVersion } from '../resource/load-resource.ts';
import { loadSealedSecrets, openConfig } from '../toolkit/toolkit-config.ts';

/** Names the library or toolkit that is connected. */
export interface TargetKey {
  kind: 'library' | 'toolkit';
  id: string;
}

/** What is connected, as it is stored now. */
export interface ConnectionTarget {
  resource: OwnedRow;
  /** Digest of the integration, or of the configuration with its secrets. A callback must find the one of its start. */
  configDigest: string;
  integrationId: string | null;
  /** The client of the integration. Null for toolkits, whose client is found when the authorization starts. */
  client: OAuthClient | null;
  /** Returns whose account it is. Null for toolkits. */
  readAccount: ((accessToken: string, signal: AbortSignal) => Promise<ConnectionAccount>) | null;
}

/**
 * Loads and locks what a user connects. Throws NOT_FOUND or FORBIDDEN unless the viewer may write it, CONFLICT for a
 * library without an integration.
 */
export const loadTarget = (ctx: Context, tx: Transaction, { kind, id }: TargetKey): Promise<ConnectionTarget> =>
  kind === 'library' ? loadLibrary(ctx, tx, id) : loadToolkit(ctx, tx, id);

async function loadLibrary(ctx: Context, tx: Transaction, key: string): Promise<ConnectionTarget> {
  const resource = await loadResource(ctx, tx, LIBRARY, key, 'library:write');
  // The lock keeps the integration as it is until the connection is stored.
  const [found] = await tx.query<{ integration: StoredIntegration }>({
    text: `select ${INTEGRATION_JSON} as integration from dws.integration i where tenant_id = $1 and id = $2 for share`,
    values: [resource.tenantId, resource.integrationId ?? null],
  });
  if (!found) throw conflict('The library has no integration: set one first');
  const { integration } = found;
  const client = oauthClientOf(ctx.platform, integration);
  return {
    resource,
    configDigest: digest(JSON.stringify([integration.id, integration.type, integration.apiUri, client])),
    integrationId: integration.id,
    client,
    readAccount: accountReader(ctx.platform, integration),
  };
}

const accountReader =
  (platform: Platform, integration: StoredIntegration): ConnectionTarget['readAccount'] =>
  (accessToken, signal) => {
    const { apiUri, contentUri } = integration;
    const token = () => Promise.resolve(accessToken);
    return driveOf(platform, integration).account({ outbound: platform.outbound, apiUri, contentUri, token, signal });
  };

/** Loads and locks a toolkit as `loadTarget` does. Throws 412 if `If-Match` does not allow its version. */
export async function loadToolkit(
  ctx: Context,
  tx: Transaction,
  key: string,
  expected: ExpectedVersion = {},
): Promise<ConnectionTarget> {
  const resource = await loadResource(ctx, tx, TOOLKIT, key, 'toolkit:write', expected);
  const { name, type, config } = resource;
  const sealedSecrets = await loadSealedSecrets(tx, resource);
  // Of the secrets themselves: those that are encrypted again are the same.
  const opened = openConfig(ctx.platform, type, { name, config, sealedSecrets });
  const configDigest = digest(JSON.stringify([type, config, opened]));
  return { resource, configDigest, integrationId: null, client: null, readAccount: null };
}
