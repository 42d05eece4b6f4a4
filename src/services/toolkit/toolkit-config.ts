import type { Toolkit } from '../../../entities/toolkit.ts';
import type { Context } from '../../core/context.ts';
import { ApiError } from '../../core/errors.ts';
import { checkJsonBounds, invalid } from '../../core/input-checks.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { checkHeaderNames } from '../resource/header-names.ts';
import { fillFromSchema } from '../resource/schema-validation.ts';
import { checkCustomTools, toExampleUrl } from './custom-tool.ts';
import { findToolkitDriver, type CustomConfig, type RemoteConfig } from './toolkit-driver.ts';
import { restoreSecrets, separateSecrets, type StoredSecret } from './toolkit-secrets.ts';

const BOUNDS = { maxBytes: 1024 * 1024, maxDepth: 110 };

type StoredConfig = Pick<Toolkit, 'config' | 'sealedSecrets'>;
/** The encrypted secrets of a toolkit, with its name for errors. */
type NamedSecrets = Pick<Toolkit, 'name' | 'sealedSecrets'>;

/**
 * Returns the columns of a checked config: masked, and its secrets encrypted. A mask stands for the stored secret. Throws
 * BAD_USER_INPUT naming the invalid key.
 */
export async function checkToolkitConfig(
  { platform }: Pick<Context, 'platform'>,
  type: string,
  input: Record<string, unknown>,
  former: NamedSecrets | null = null,
): Promise<StoredConfig> {
  const { id, configSchema } = findToolkitDriver(type);
  const filled = fillFromSchema(configSchema, checkJsonBounds(input, 'config', BOUNDS), 'config') as typeof input;
  const custom = id === 'custom' ? (filled as CustomConfig) : null;
  const remote = id === 'mcp-remote' ? (filled as RemoteConfig) : null;
  if (remote) {
    checkHeaderNames(Object.keys(remote.headers), 'config.headers');
    await checkUrl(platform, remote.url, 'config.url');
  }
  for (const [index, { request }] of (custom?.tools ?? []).entries()) {
    if (!request) continue;
    const path = `config.tools.${index}.request`;
    checkHeaderNames(Object.keys(request.headers), `${path}.headers`);
    await checkUrl(platform, toExampleUrl(request.url, `${path}.url`), `${path}.url`);
  }
  // Secrets of custom tools are found by the names of the tools, which are unique after this.
  if (custom) checkCustomTools(custom.tools);
  const restored = restoreSecrets(id, filled, former ? openSecrets(platform, former) : []);
  if (custom) checkCustomTools((restored as CustomConfig).tools);
  const { masked, secrets } = separateSecrets(id, restored);
  return {
    config: masked,
    sealedSecrets: secrets.length > 0 ? platform.secrets.seal(JSON.stringify(secrets)) : null,
  };
}

async function checkUrl({ outbound }: Platform, url: string, path: string): Promise<void> {
  await outbound.checkUrl(url).catch((error: unknown) => {
    throw error instanceof ApiError ? invalid(path, `is not allowed: ${error.message}`) : error;
  });
}

const openSecrets = ({ secrets }: Pick<Platform, 'secrets'>, { name, sealedSecrets }: NamedSecrets): StoredSecret[] =>
  sealedSecrets ? (JSON.parse(secrets.open(sealedSecrets, `the secrets of toolkit "${name}"`)) as StoredSecret[]) : [];

/** Returns the encrypted secrets of a toolkit; null if it has none. */
export async function loadSealedSecrets(
  tx: Pick<Transaction, 'query'>,
  toolkit: Pick<Toolkit, 'tenantId' | 'id'>,
): Promise<string | null> {
  const [row] = await tx.query<{ sealed: string | null }>({
    text: `select sealed_secrets as sealed from dws.toolkit where tenant_id = $1 and id = $2`,
    values: [toolkit.tenantId, toolkit.id],
  });
  return row?.sealed ?? null;
}

/**
 * Returns the config of a toolkit with its secrets, for calls to its server; null for a deleted toolkit. No response, log
 * or error may contain it.
 */
export async function loadToolkitSecrets(
  platform: Pick<Platform, 'database' | 'secrets'>,
  { tenantId, id, name }: Pick<Toolkit, 'tenantId' | 'id' | 'name'>,
): Promise<Record<string, unknown> | null> {
  const [row] = await platform.database.query<{ type: string; config: Toolkit['config']; sealed: string | null }>(
    tenantId,
    {
      text: `select type, config, sealed_secrets as sealed from dws.toolkit where tenant_id = $1 and id = $2`,
      values: [tenantId, id],
    },
  );
  return row ? openConfig(platform, row.type, { name, config: row.config, sealedSecrets: row.sealed }) : null;
}

/** Returns a stored config with its secrets. No response, log or error may contain it. */
export const openConfig = (
  platform: Pick<Platform, 'secrets'>,
  type: string,
  { name, config, sealedSecrets = null }: StoredConfig & NamedSecrets,
): Record<string, unknown> =>
  restoreSecrets(findToolkitDriver(type).id, config, openSecrets(platform, { name, sealedSecrets }));
