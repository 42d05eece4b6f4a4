import { createHash } from 'node:crypto';
import type { Dataset } from '../../../entities/dataset.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { ApiError, refused } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import type { DatasetRefreshInput } from '../../core/operations.ts';
import { bindParameters } from '../../core/parameters.ts';
import { LEVEL, levelAllows, type ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { lockConcurrencyKey } from '../operation/operation-concurrency.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { accessLevelInTransaction } from '../resource/access-level.ts';
import { findResourceId, loadResource, type ExpectedVersion } from '../resource/load-resource.ts';
import { runnableQuery, type EffectiveQuery, type QuerySource } from './dataset-query.ts';

export interface RefreshOptions {
  progress?: string | number | null;
  /** Overrides of the parameters' defaults. */
  params?: Record<string, unknown> | null;
  syncFields?: boolean | null;
  updateTypeMapping?: boolean | null;
  disableRefreshInterval?: boolean | null;
}

/**
 * Replaces a dataset's rows with the result of its query, with the access of its owner to the datasource. Returns the
 * operation; with `wait` after it ended.
 */
export const refresh = (ctx: Context, id: string, options: RefreshOptions, wait: boolean): Promise<OperationRecord> =>
  startInTransaction(ctx, wait, async (tx) =>
    startRefresh(ctx, tx, await loadForRefresh(ctx, tx, id, 'dataset:refresh'), options),
  );

/**
 * Refreshes a dataset without checking its owner's access to the datasource. Throws FORBIDDEN for other callers than
 * superusers.
 */
export const refreshInternal = (
  ctx: Context,
  id: string,
  options: RefreshOptions,
  wait: boolean,
): Promise<OperationRecord> =>
  startInTransaction(ctx, wait, async (tx) => {
    const dataset = await loadForRefresh(ctx, tx, id, 'dataset:refresh');
    if (!ctx.viewer.superuser) throw refused('Only superusers and workers can refresh a dataset this way');
    return startRefresh(ctx, tx, dataset, options, { checkOwner: false });
  });

/** Returns the concurrency key under which a dataset's rows are replaced, one operation at a time. */
export const concurrencyKeyOf = (datasetId: string): string => `dataset:${datasetId}`;

/**
 * Loads a dataset for a change that concerns its refreshes. Locks the concurrency key before the dataset's row, in the
 * order in which a refresh ends: another order would risk a deadlock.
 */
export async function loadForRefresh(
  ctx: Context,
  tx: Transaction,
  id: string,
  permission: ResourcePermission,
  expected: ExpectedVersion = {},
): Promise<Dataset> {
  const datasetId = isUuid(id) ? id.toLowerCase() : await findResourceId(ctx, tx, DATASET.table, id);
  if (datasetId) lockConcurrencyKey(tx, concurrencyKeyOf(datasetId));
  return loadResource(ctx, tx, DATASET, id, permission, expected);
}

/** Stops the running refresh of a dataset that is deleted. Waiting refreshes end by themselves. */
export const stopRefresh = (tx: Transaction, { tenantId, id }: Pick<Dataset, 'tenantId' | 'id'>): void =>
  operations.cancelRunning(tx, tenantId, concurrencyKeyOf(id));

/**
 * Checks the request and starts a refresh in the transaction. Returns the operation's id. Without `checkOwner`, the
 * owner's access to the datasource is not checked. With `upload`, a failure deletes the dataset.
 */
export async function startRefresh(
  ctx: Context,
  tx: Transaction,
  dataset: Dataset,
  options: RefreshOptions,
  { checkOwner = true, upload = false } = {},
): Promise<string> {
  const source = await runnableQuery(tx, ctx.viewer.tenantId, dataset, checkOwner);
  const input = { ...refreshInputOf(dataset, source, options), ...(upload && { upload }) };
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

/** Returns the input of a refresh: the current query with its parameter values, and the options with their defaults. */
export const refreshInputOf = (
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

/** The refreshes of the datasets of a datasource, and the datasets that the caller can read, but not refresh. */
interface SourceRefreshes {
  refreshes: DatasetRefreshInput[];
  notRefreshed: string[];
}

interface SourceDataset extends QuerySource, Record<string, unknown> {
  id: string;
  ownerId: string;
  isSnapshot: boolean;
}

/** Returns refreshes of all datasets of a datasource, except drafts, with the default values of their parameters. */
export async function refreshesOfSource(ctx: Context, tx: Transaction, datasourceId: string): Promise<SourceRefreshes> {
  const { tenantId } = ctx.viewer;
  const datasets = await tx.query<SourceDataset>({
    text: `
      select d.id, d.owner_id as "ownerId", d.query_id as "queryId", d.datasource_id as "datasourceId", d.query, d.params,
        d.is_snapshot as "isSnapshot"
      from dws.dataset d
      left join dws.saved_query q on q.tenant_id = d.tenant_id and q.id = d.query_id
      where d.tenant_id = $1 and d.parent_id is null and coalesce(q.datasource_id, d.datasource_id) = $2
      order by d.id`,
    values: [tenantId, datasourceId],
  });
  const found: SourceRefreshes = { refreshes: [], notRefreshed: [] };
  for (const dataset of datasets) {
    const level = await accessLevelInTransaction(ctx, tx, dataset);
    const refresh = levelAllows(level, 'dataset:refresh') ? await defaultRefresh(tx, tenantId, dataset) : undefined;
    if (refresh) found.refreshes.push(refresh);
    else if (level !== LEVEL.none) found.notRefreshed.push(dataset.id);
  }
  return found;
}

/** Returns the refresh of a dataset without options; undefined if it cannot run. */
async function defaultRefresh(
  tx: Transaction,
  tenantId: string,
  dataset: SourceDataset,
): Promise<DatasetRefreshInput | undefined> {
  try {
    return refreshInputOf(dataset, await runnableQuery(tx, tenantId, dataset), {});
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
