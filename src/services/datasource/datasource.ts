import { isDeepStrictEqual } from 'node:util';
import type { CreateDatasourceInput, UpdateDatasourceInput } from '../../../entities/datasource-input.ts';
import type { Datasource } from '../../../entities/datasource.ts';
import { DATASOURCE } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { conflict, forbidden } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';
import { loadResource } from '../resource/load-resource.ts';
import { createOwned, updateOwned } from '../resource/owned-kind.ts';
import { checkUnused } from '../resource/references.ts';
import { deleteStoredFiles } from '../resource/stored-file.ts';
import { driverOf, validateDatasourceConfig, validateDatasourceSecrets } from './datasource-config.ts';
import { loadSource } from './datasource-connection.ts';
import { checkFileConfig } from './upload.ts';

/** Creates a datasource without testing the connection. Returns the id. */
export async function create(
  ctx: Context,
  { type, config, secrets, ...input }: CreateDatasourceInput,
): Promise<string> {
  const driver = driverOf(ctx.platform, type);
  if (driver.upload) {
    throw invalid(
      'type',
      `must not be "${type}": upload the file with POST /api/datasources/_upload or uploadDatasource`,
    );
  }
  if (driver.locate)
    throw invalid('type', `must not be "${type}": the first migration of an app creates its datasource`);
  const content = {
    type,
    config: validateDatasourceConfig(driver, config ?? {}),
    secrets: sealSecrets(ctx, validateDatasourceSecrets(driver, secrets ?? {})),
  };
  return ctx.transaction(async (tx) => (await createOwned(ctx, tx, DATASOURCE, input, content)).id);
}

/** Changes a datasource. Changing its connection requires `datasources:create`. Returns the id. */
export async function update(
  ctx: Context,
  id: string,
  { config, secrets, ...input }: UpdateDatasourceInput,
): Promise<string> {
  const checkedFile = config == null ? null : await checkNewConfig(ctx, id, config);
  return ctx.transaction(async (tx) => {
    const datasource = await loadResource(ctx, tx, DATASOURCE, id, 'datasource:write', { ifMatch: ctx.ifMatch });
    if (checkedFile !== null && datasource.fileId !== checkedFile)
      throw conflict('The file of the datasource was replaced while the config was checked: try again');
    await updateConnection(ctx, tx, datasource, { config, secrets });
    await updateOwned(ctx, tx, DATASOURCE, datasource, input);
    return datasource.id;
  });
}

/**
 * Checks a new config of an uploaded file with its values, which takes too long for the transaction of the change. Returns
 * the id of the checked file; null if nothing was to be checked.
 */
async function checkNewConfig(ctx: Context, id: string, config: unknown): Promise<string | null> {
  const datasource = await ctx.transaction((tx) =>
    loadResource(ctx, tx, DATASOURCE, id, 'datasource:write', { ifMatch: ctx.ifMatch }),
  );
  const driver = driverOf(ctx.platform, datasource.type);
  const newConfig = validateDatasourceConfig(driver, config);
  if (!datasource.fileId || isDeepStrictEqual(newConfig, datasource.config)) return null;
  await checkFileConfig(ctx, driver, datasource.fileId, newConfig);
  return datasource.fileId;
}

/** Absent secrets stay unchanged, null clears them. */
async function updateConnection(
  ctx: Context,
  tx: Transaction,
  datasource: Datasource,
  { config, secrets }: Pick<UpdateDatasourceInput, 'config' | 'secrets'>,
): Promise<void> {
  const driver = driverOf(ctx.platform, datasource.type);
  const newConfig = config == null ? datasource.config : validateDatasourceConfig(driver, config);
  const isChanged = !isDeepStrictEqual(newConfig, datasource.config);
  if (!isChanged && secrets === undefined) return;
  if (datasource.appId) throw conflict('The connection of the datasource of an app cannot change');
  const { superuser, permissions } = ctx.viewer;
  // The config of an uploaded file only defines how the file is read. It cannot lead to another source.
  if (!driver.upload && !superuser && !permissions.has('datasources:create')) {
    throw forbidden({ permission: 'datasources:create' });
  }
  if (secrets === undefined) await checkStoredSecretsStay(ctx, tx, datasource, newConfig);
  else datasource.secrets = sealSecrets(ctx, validateDatasourceSecrets(driver, secrets ?? {}));
  datasource.config = newConfig;
  datasource.problems = [];
}

/**
 * Throws BAD_USER_INPUT if stored secrets would be sent to another server, or over another kind of connection, than
 * they were saved for. A caller who changes these settings must send the secrets again.
 */
async function checkStoredSecretsStay(
  ctx: Context,
  tx: Transaction,
  { id, config }: Datasource,
  newConfig: Record<string, unknown>,
): Promise<void> {
  const keys = [...new Set([...Object.keys(config), ...Object.keys(newConfig)])];
  const changedKey = keys.find((key) => key !== 'database' && !isDeepStrictEqual(config[key], newConfig[key]));
  if (changedKey === undefined) return;
  const { secrets } = await loadSource(tx, ctx.viewer.tenantId, id);
  if (secrets) throw invalid('secrets', `is required when config.${changedKey} changes`);
}

/**
 * Deletes a datasource. Throws CONFLICT listing its users if it is in use. The janitor deletes the bytes of an uploaded
 * file later.
 */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const datasource = await loadResource(ctx, tx, DATASOURCE, id, 'datasource:delete', { ifMatch: ctx.ifMatch });
    if (datasource.appId) throw conflict('The datasource of an app is deleted with the app');
    await checkUnused(ctx, tx, 'datasource', datasource.id);
    tx.remove(datasource);
    if (datasource.fileId) deleteStoredFiles(tx, ctx.viewer.tenantId, [datasource.fileId]);
  });
}

/** Encrypts the secrets. Returns null for no secrets, so that a connection without a password can be changed freely. */
const sealSecrets = ({ platform }: Context, secrets: Record<string, string>): string | null =>
  Object.keys(secrets).length > 0 ? platform.secrets.seal(JSON.stringify(secrets)) : null;
