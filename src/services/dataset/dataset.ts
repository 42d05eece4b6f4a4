import { isDeepStrictEqual } from 'node:util';
import type { CreateDatasetInput, UpdateDatasetInput } from '../../../entities/dataset-input.ts';
import type { Dataset } from '../../../entities/dataset.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { ApiError } from '../../core/errors.ts';
import { parseFlow } from '../../core/flow/parse.ts';
import { invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';
import { wait } from '../operation/operation-wait.ts';
import { loadResource } from '../resource/load-resource.ts';
import { createOwned, updateOwned } from '../resource/owned-kind.ts';
import { checkUnused } from '../resource/references.ts';
import { changeFieldSecurity } from './dataset-field-security.ts';
import { applyLabels } from './dataset-fields.ts';
import { resolveChangedSource, snapshotConflict, resolveNewSource } from './dataset-query.ts';
import { startRefresh, loadForRefresh, stopRefresh } from './dataset-refresh.ts';
import { dropEmbeddedUpload } from './dataset-upload-cleanup.ts';

/** The part of an update that defines a dataset's rows and how they are presented. A draft can have other values. */
export type DatasetDefinition = Pick<
  UpdateDatasetInput,
  'queryId' | 'datasourceId' | 'query' | 'params' | 'flow' | 'settings' | 'fields'
>;

/**
 * Creates a dataset. Returns its id. With `refresh`, loads its rows first: if the refresh cannot start, throws and
 * creates nothing; if it fails, the dataset has no rows, and `lastRefresh` has the error.
 */
export async function create(ctx: Context, { refresh, fields, ...input }: CreateDatasetInput): Promise<string> {
  if (fields?.length && !refresh)
    throw invalid('fields', 'cannot be set before the first refresh; set refresh to true');
  const { queryId, datasourceId, query, params, flow, settings, fieldSecurityEnabled, ...common } = input;
  const created = await ctx.transaction(async (tx) => {
    const source = await resolveNewSource(ctx, tx, { queryId, datasourceId, query, params });
    const rest: Partial<Dataset> = {
      ...source,
      flow: parseFlow(flow ?? []),
      settings: settings ?? {},
      fieldSecurityEnabled: fieldSecurityEnabled ?? false,
    };
    const dataset = await createOwned(ctx, tx, DATASET, common, rest);
    return { id: dataset.id, operationId: refresh ? await startRefresh(ctx, tx, dataset, {}) : null };
  });
  if (created.operationId)
    await wait(ctx, created.operationId).catch((error) => {
      if (!(error instanceof ApiError)) throw error;
    });
  if (fields?.length) await update(ctx, created.id, { fields });
  return created.id;
}

/** Updates a dataset. Its rows do not change until a refresh. Returns the id. */
export async function update(ctx: Context, id: string, input: UpdateDatasetInput): Promise<string> {
  const { queryId, datasourceId, query, params, flow, settings, fieldSecurityEnabled, fields, ...common } = input;
  return ctx.transaction(async (tx) => {
    const dataset = await loadResource(ctx, tx, DATASET, id, 'dataset:write', { ifMatch: ctx.ifMatch });
    await redefine(ctx, tx, dataset, { queryId, datasourceId, query, params, flow, settings, fields });
    if (fieldSecurityEnabled != null && fieldSecurityEnabled !== dataset.fieldSecurityEnabled)
      await changeFieldSecurity(ctx, tx, dataset, fieldSecurityEnabled);
    await updateOwned(ctx, tx, DATASET, dataset, common);
    return dataset.id;
  });
}

/**
 * Updates the definition of a dataset. Absent keys are unchanged. Throws CONFLICT where a snapshot's rows would change.
 */
export async function redefine(
  ctx: Context,
  tx: Transaction,
  dataset: Dataset,
  { flow, settings, fields, ...query }: DatasetDefinition,
): Promise<void> {
  const source = await resolveChangedSource(ctx, tx, dataset, query);
  const steps = flow === undefined ? dataset.flow : parseFlow(flow ?? []);
  if (dataset.isSnapshot && (source || !isDeepStrictEqual(steps, dataset.flow))) throw snapshotConflict();
  if (source) Object.assign(dataset, source);
  dataset.flow = steps;
  if (settings !== undefined) dataset.settings = settings ?? {};
  if (fields) dataset.fields = applyLabels(dataset.fields, fields);
}

/**
 * Deletes a dataset with its snapshots, drafts and uploaded file, and stops its refresh. Throws CONFLICT if the dataset
 * is in use. The janitor deletes the rows once no export reads them.
 */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const dataset = await loadForRefresh(ctx, tx, id, 'dataset:delete', { ifMatch: ctx.ifMatch });
    await checkUnused(ctx, tx, 'dataset', dataset.id);
    stopRefresh(tx, dataset);
    tx.remove(dataset);
    if (dataset.datasourceId) await dropEmbeddedUpload(tx, ctx.viewer.tenantId, dataset.datasourceId, dataset.ownerId);
  });
}
