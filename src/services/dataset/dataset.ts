import { isDeepStrictEqual } from 'node:util';
import type { Dataset } from '../../../entities/dataset.ts';
import type { Context } from '../../core/context.ts';
import { ApiError, forbidden } from '../../core/errors.ts';
import { parseFlow } from '../../core/flow/parse.ts';
import { invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';
import { wait } from '../operation/operation-wait.ts';
import { load } from '../resource/load-resource.ts';
import { createOwned, updateOwned, type OwnedInput } from '../resource/owned-kind.ts';
import { DATASET } from '../resource/owned-kinds.ts';
import { checkUnused } from '../resource/references.ts';
import { labelled, type FieldLabel } from './dataset-fields.ts';
import { changedSource, keepsRows, newSource, type QueryInput } from './dataset-query.ts';
import { begin, loadForRefresh, stopRefresh } from './dataset-refresh.ts';
import { mayShare } from './dataset-share.ts';
import { dropEmbeddedUpload } from './dataset-upload-cleanup.ts';

/** What a dataset is but for its rows, and what a draft of it may have otherwise. */
export interface Definition extends QueryInput {
  /** Steps as clients send them; checked here. */
  flow?: unknown[] | null;
  settings?: Record<string, unknown> | null;
  fields?: FieldLabel[] | null;
}

export interface DatasetInput extends OwnedInput, Definition {
  fieldSecurityEnabled?: boolean | null;
}

/**
 * Makes a dataset; with `refresh` its rows are loaded before the answer. A refresh that cannot begin makes no dataset, one that fails leaves it without
 * rows and its `lastRefresh` says why. Answers the id.
 */
export async function create(
  ctx: Context,
  { refresh, fields, ...input }: DatasetInput & { refresh?: boolean | null },
): Promise<string> {
  if (fields?.length && !refresh)
    throw invalid('fields', 'can be labelled once the dataset has rows: refresh it first');
  const { queryId, datasourceId, query, params, flow, settings, fieldSecurityEnabled, ...common } = input;
  const made = await ctx.transaction(async (tx) => {
    const source = await newSource(ctx, tx, { queryId, datasourceId, query, params });
    const rest: Partial<Dataset> = {
      ...source,
      flow: parseFlow(flow ?? []),
      settings: settings ?? {},
      fieldSecurityEnabled: fieldSecurityEnabled ?? false,
    };
    const dataset = await createOwned(ctx, tx, DATASET, common, rest);
    return { id: dataset.id, operationId: refresh ? await begin(ctx, tx, dataset, {}) : null };
  });
  if (made.operationId)
    await wait(ctx, made.operationId).catch((error) => {
      if (!(error instanceof ApiError)) throw error;
    });
  if (fields?.length) await update(ctx, made.id, { fields });
  return made.id;
}

/** Changes a dataset; its rows stay as they are until a refresh. Answers the id. */
export async function update(ctx: Context, id: string, input: DatasetInput): Promise<string> {
  const { queryId, datasourceId, query, params, flow, settings, fieldSecurityEnabled, fields, ...common } = input;
  return ctx.transaction(async (tx) => {
    const dataset = await load(ctx, tx, DATASET, id, 'dataset:write', { ifMatch: ctx.ifMatch });
    await redefine(ctx, tx, dataset, { queryId, datasourceId, query, params, flow, settings, fields });
    if (fieldSecurityEnabled != null && fieldSecurityEnabled !== dataset.fieldSecurityEnabled)
      await secureFields(ctx, tx, dataset, fieldSecurityEnabled);
    await updateOwned(ctx, tx, DATASET, dataset, common);
    return dataset.id;
  });
}

/** Changes what a dataset is by definition; what the input does not name stays. */
export async function redefine(
  ctx: Context,
  tx: Transaction,
  dataset: Dataset,
  { flow, settings, fields, ...query }: Definition,
): Promise<void> {
  const source = await changedSource(ctx, tx, dataset, query);
  const steps = flow === undefined ? dataset.flow : parseFlow(flow ?? []);
  if (dataset.isSnapshot && (source || !isDeepStrictEqual(steps, dataset.flow))) throw keepsRows();
  if (source) Object.assign(dataset, source);
  dataset.flow = steps;
  if (settings !== undefined) dataset.settings = settings ?? {};
  if (fields) dataset.fields = labelled(dataset.fields, fields);
}

/** Lifting field security shows fields to those they were hidden from, so it takes who may share. */
async function secureFields(ctx: Context, tx: Transaction, dataset: Dataset, enabled: boolean): Promise<void> {
  if (!(await mayShare(ctx, tx, dataset))) throw forbidden({ permission: 'dataset:share' });
  dataset.fieldSecurityEnabled = enabled;
}

/** Deletes a dataset that nothing uses (409 otherwise) with its snapshots and drafts and the file it was uploaded as, and stops its refresh. Their rows are dropped by the janitor, once no export reads them. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const dataset = await loadForRefresh(ctx, tx, id, 'dataset:delete', { ifMatch: ctx.ifMatch });
    await checkUnused(ctx, tx, 'dataset', dataset.id);
    await stopRefresh(tx, dataset);
    tx.em.remove(dataset);
    if (dataset.datasourceId) await dropEmbeddedUpload(tx, ctx.viewer.tenantId, dataset.datasourceId, dataset.ownerId);
  });
}
