import { LIBRARY } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { digest } from '../../core/secret.ts';
import type { ConnectionTarget } from '../connection/connection-target.ts';
import { driveOf, INTEGRATION_JSON, oauthClientOf, type StoredIntegration } from '../connection/integration-client.ts';
import { loadResource } from '../resource/load-resource.ts';

/**
 * Loads and locks a library that a user connects. Throws NOT_FOUND or FORBIDDEN unless the viewer may write it, and
 * CONFLICT without an integration.
 */
export async function loadLibraryTarget(ctx: Context, tx: Transaction, key: string): Promise<ConnectionTarget> {
  const resource = await loadResource(ctx, tx, LIBRARY, key, 'library:write');
  // The lock keeps the integration unchanged until the connection is stored.
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
