import { isDeepStrictEqual } from 'node:util';
import type { Datasource } from '../../../entities/datasource.ts';
import type { Context } from '../../core/context.ts';
import { forbidden } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';
import { dropFileRow } from '../dataset/dataset-upload-cleanup.ts';
import { load } from '../resource/load-resource.ts';
import { createOwned, updateOwned, type OwnedInput } from '../resource/owned-kind.ts';
import { DATASOURCE } from '../resource/owned-kinds.ts';
import { checkUnused } from '../resource/references.ts';
import { checkedConfig, checkedSecrets, driverOf } from './datasource-config.ts';
import { readSource } from './datasource-connection.ts';

export interface DatasourceInput extends OwnedInput {
  config?: Record<string, unknown> | null;
  /** Write-only: absent keeps them, null clears them. */
  secrets?: Record<string, unknown> | null;
}

/** Makes a datasource. Answers the id. */
export async function create(
  ctx: Context,
  { type, config, secrets, ...input }: DatasourceInput & { type: string },
): Promise<string> {
  const driver = driverOf(ctx.platform, type);
  if (driver.upload)
    throw invalid(
      'type',
      `must not be "${type}" here: a datasource of this type is an uploaded file, made by POST /api/datasources/_upload or uploadDatasource`,
    );
  const checked = {
    type,
    config: checkedConfig(driver, config ?? {}),
    secrets: sealed(ctx, checkedSecrets(driver, secrets ?? {})),
  };
  return ctx.transaction(async (tx) => (await createOwned(ctx, tx, DATASOURCE, input, checked)).id);
}

/** Changes a datasource; where it connects to only by those who may make one. Answers the id. */
export async function update(
  ctx: Context,
  id: string,
  { config, secrets, ...input }: DatasourceInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const datasource = await load(ctx, tx, DATASOURCE, id, 'datasource:write', { ifMatch: ctx.ifMatch });
    await updateConnection(ctx, tx, datasource, { config, secrets });
    await updateOwned(ctx, tx, DATASOURCE, datasource, input);
    return datasource.id;
  });
}

async function updateConnection(
  ctx: Context,
  tx: Transaction,
  datasource: Datasource,
  { config, secrets }: Pick<DatasourceInput, 'config' | 'secrets'>,
): Promise<void> {
  const driver = driverOf(ctx.platform, datasource.type);
  const changed = config == null ? datasource.config : checkedConfig(driver, config);
  const moves = !isDeepStrictEqual(changed, datasource.config);
  if (!moves && secrets === undefined) return;
  const { superuser, permissions } = ctx.viewer;
  // The config of a file says how it is read, and leads nowhere else.
  if (!driver.upload && !superuser && !permissions.has('datasources:create'))
    throw forbidden({ permission: 'datasources:create' });

  if (secrets === undefined) await checkSecretsStay(ctx, tx, datasource, changed);
  else datasource.secrets = sealed(ctx, checkedSecrets(driver, secrets ?? {}));
  datasource.config = changed;
}

/** Kept secrets must not travel to another place, or by another way, than they were given for: who names it must know them. */
async function checkSecretsStay(
  ctx: Context,
  tx: Transaction,
  { id, config }: Datasource,
  changed: Record<string, unknown>,
): Promise<void> {
  const keys = [...new Set([...Object.keys(config), ...Object.keys(changed)])];
  const moved = keys.find((key) => key !== 'database' && !isDeepStrictEqual(config[key], changed[key]));
  if (moved === undefined) return;
  const { secrets } = await readSource(tx, ctx.viewer.tenantId, id);
  if (secrets) throw invalid('secrets', `is required when config.${moved} changes`);
}

/** Deletes a datasource that nothing uses; 409 otherwise, listing its users. The bytes of an uploaded file are removed by the janitor. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const datasource = await load(ctx, tx, DATASOURCE, id, 'datasource:delete', { ifMatch: ctx.ifMatch });
    await checkUnused(ctx, tx, 'datasource', datasource.id);
    tx.em.remove(datasource);
    if (datasource.fileId) await dropFileRow(tx, ctx.viewer.tenantId, datasource.fileId);
  });
}

/** Null when there is nothing to keep secret, so that a connection without a password can be moved freely. */
const sealed = ({ platform }: Context, secrets: Record<string, string>): string | null =>
  Object.keys(secrets).length > 0 ? platform.secrets.seal(JSON.stringify(secrets)) : null;
