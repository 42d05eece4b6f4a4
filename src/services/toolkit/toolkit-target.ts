import { TOOLKIT } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import type { Transaction } from '../../core/platform.ts';
import { digest } from '../../core/secret.ts';
import type { ConnectionTarget } from '../connection/connection-target.ts';
import { loadResource, type ExpectedVersion } from '../resource/load-resource.ts';
import { loadSealedSecrets, openConfig } from './toolkit-config.ts';

/**
 * Loads and locks a toolkit that a user connects. Throws NOT_FOUND or FORBIDDEN unless the viewer may write it, and 412
 * if `If-Match` does not allow its version.
 */
export async function loadToolkitTarget(
  ctx: Context,
  tx: Transaction,
  key: string,
  expected: ExpectedVersion = {},
): Promise<ConnectionTarget> {
  const resource = await loadResource(ctx, tx, TOOLKIT, key, 'toolkit:write', expected);
  const { name, type, config } = resource;
  const sealedSecrets = await loadSealedSecrets(tx, resource);
  // A digest of the secrets themselves: secrets that are encrypted again are the same.
  const opened = openConfig(ctx.platform, type, { name, config, sealedSecrets });
  const configDigest = digest(JSON.stringify([type, config, opened]));
  return { resource, configDigest, integrationId: null, client: null, readAccount: null };
}
