import { createHash } from 'node:crypto';
import type { Dataset } from '../../../entities/dataset.ts';
import type { Context } from '../../core/context.ts';
import { refused } from '../../core/errors.ts';
import type { DatasetRefreshInput } from '../../core/operations.ts';
import { bindParameters } from '../../core/parameters.ts';
import type { ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { lockConcurrencyKey } from '../operation/operation-concurrency.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { findResourceId, load, type ExpectedVersion } from '../resource/load-resource.ts';
import { DATASET } from '../resource/owned-kinds.ts';
import { runnableQuery, type EffectiveQuery } from './dataset-query.ts';

export interface RefreshOptions {
  progress?: string | number | null;
  /** Overrides of the parameters' defaults. */
  params?: Record<string, unknown> | null;
  syncFields?: boolean | null;
  updateTypeMapping?: boolean | null;
  disableRefreshInterval?: boolean | null;
}

/** Replaces a dataset's rows by those of its query, on its owner's right to the datasource. Answers the operation, finished when `wait` says so. */
export const refresh = (ctx: Context, id: string, options: RefreshOptions, wait: boolean): Promise<OperationRecord> =>
  startInTransaction(ctx, wait, async (tx) =>
    begin(ctx, tx, await loadForRefresh(ctx, tx, id, 'dataset:refresh'), options),
  );

/** The same for the service itself: superusers and workers only, whatever the owner may read. */
export const refreshInternal = (
  ctx: Context,
  id: string,
  options: RefreshOptions,
  wait: boolean,
): Promise<OperationRecord> =>
  startInTransaction(ctx, wait, async (tx) => {
    const dataset = await loadForRefresh(ctx, tx, id, 'dataset:refresh');
    if (!ctx.viewer.superuser) throw refused('Only superusers and workers refresh a dataset this way');
    return begin(ctx, tx, dataset, options, { checkOwner: false });
  });

/** Where a dataset's rows are replaced, one operation at a time. */
export const concurrencyKeyOf = (datasetId: string): string => `dataset:${datasetId}`;

/** Loads a dataset for what concerns its refreshes. Who ends one locks the concurrency key first and the dataset's row then; the other way round the two could wait for each other for ever. */
export async function loadForRefresh(
  ctx: Context,
  tx: Transaction,
  id: string,
  permission: ResourcePermission,
  expected: ExpectedVersion = {},
): Promise<Dataset> {
  const datasetId = await findResourceId(ctx, tx, DATASET.table, id);
  if (datasetId) await lockConcurrencyKey(tx, concurrencyKeyOf(datasetId));
  return load(ctx, tx, DATASET, id, permission, expected);
}

/** Stops the refresh that runs, when its dataset goes. Those that wait find nothing to do. */
export const stopRefresh = (tx: Transaction, { tenantId, id }: Pick<Dataset, 'tenantId' | 'id'>): Promise<void> =>
  operations.cancelRunning(tx, tenantId, concurrencyKeyOf(id));

/**
 * Checks all that can be checked before, and starts the refresh in the transaction. Answers the operation's id. Without `checkOwner` the owner's right to
 * the datasource is not asked for; of an `upload` nothing stays when its rows cannot be loaded.
 */
export async function begin(
  ctx: Context,
  tx: Transaction,
  dataset: Dataset,
  options: RefreshOptions,
  { checkOwner = true, upload = false } = {},
): Promise<string> {
  const source = await runnableQuery(tx, ctx.viewer.tenantId, dataset, checkOwner);
  const input = { ...inputOf(dataset, source, options), ...(upload && { upload }) };
  return operations.start(ctx, tx, {
    operation: 'dataset.refresh',
    resource: { kind: 'dataset', id: dataset.id },
    input,
    progress: options.progress ?? null,
    unit: 'rows',
    concurrencyKey: concurrencyKeyOf(dataset.id),
    fingerprint: createHash('sha256')
      .update(JSON.stringify([input, dataset.flow]))
      .digest('base64url'),
  });
}

/** What the rows are loaded by: the effective query and flags, as they are when it is asked for. */
export const inputOf = (
  { id }: Pick<Dataset, 'id'>,
  { datasourceId, query, params }: EffectiveQuery,
  options: RefreshOptions,
): DatasetRefreshInput => ({
  datasetId: id,
  datasourceId,
  query,
  parameters: bindParameters(params, options.params ?? {}),
  syncFields: options.syncFields ?? true,
  updateTypeMapping: options.updateTypeMapping ?? true,
  disableRefreshInterval: options.disableRefreshInterval ?? true,
});
