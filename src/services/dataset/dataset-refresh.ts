import { createHash } from 'node:crypto';
import type { Dataset } from '../../../entities/dataset.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import type { SavedQuery } from '../../../entities/saved-query.ts';
import type { Context } from '../../core/context.ts';
import { ApiError, refused, conflict, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import type { DatasetRefreshInput } from '../../core/operations.ts';
import { bindParameters, type ParameterDefinition } from '../../core/parameters.ts';
import { LEVEL, levelAllows, type ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkOwnerMayUse, type DatasourceUse } from '../datasource/datasource-access.ts';
import { lockConcurrencyKey } from '../operation/operation-queue.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { accessLevelInTransaction } from '../resource/access-level.ts';
import { findResourceId, loadResource, type ExpectedVersion } from '../resource/load-resource.ts';

/** The source of a dataset's rows: a saved query that it follows, or a query of its own. */
export type QuerySource = Pick<Dataset, 'queryId' | 'datasourceId' | 'query' | 'params'>;

/** The columns of a saved query that datasets follow. */
export type LinkedQuery = Pick<SavedQuery, 'id' | 'datasourceId' | 'query' | 'params'>;

export const LINKED_QUERY_COLUMNS = `id, datasource_id as "datasourceId", query, params`;

/** The query that a dataset runs, and its datasource. */
export interface EffectiveQuery {
  datasourceId: string;
  query: string;
  params: ParameterDefinition[];
}

/**
 * Returns the query of a dataset: its own, or the query of the saved query it follows with the dataset's own
 * definitions of parameters. Null for a dataset that has only rows.
 */
export function effectiveQuery(
  { datasourceId, query, params }: QuerySource,
  linked: LinkedQuery | null,
): EffectiveQuery | null {
  if (linked)
    return {
      datasourceId: linked.datasourceId,
      query: linked.query,
      params: linked.params.map((parameter) => params.find(({ name }) => name === parameter.name) ?? parameter),
    };
  return datasourceId && query ? { datasourceId, query, params } : null;
}

/** The error for a change of a snapshot's rows or of their source. */
export const snapshotConflict = (): Error => conflict('A snapshot keeps its rows');

/**
 * Returns the query of a dataset that is about to run. Throws FORBIDDEN if the dataset's owner has no access to the
 * datasource, CONFLICT for a snapshot and for a dataset without a query. See docs/contract/access.md#access.
 */
export async function runnableQuery(
  tx: Transaction,
  tenantId: string,
  dataset: QuerySource & Pick<Dataset, 'ownerId' | 'isSnapshot'>,
  checkOwner = true,
): Promise<EffectiveQuery> {
  if (dataset.isSnapshot) throw snapshotConflict();
  const effective = effectiveQuery(dataset, await loadLinkedQuery(tx, tenantId, dataset.queryId));
  if (!effective) throw conflict('The dataset has no query to run');
  if (checkOwner) await checkOwnerMayUse(tx, tenantId, dataset.ownerId, effective.datasourceId, requiredUse(dataset));
  return effective;
}

/** Returns the saved query that a dataset follows, null for none. Throws NOT_FOUND for an unknown id. */
export async function loadLinkedQuery(
  tx: Transaction,
  tenantId: string,
  id: string | null | undefined,
): Promise<LinkedQuery | null> {
  if (!id) return null;
  const [linked] = await tx.query<LinkedQuery>({
    text: `select ${LINKED_QUERY_COLUMNS} from dws.saved_query where tenant_id = $1 and id = $2`,
    values: [tenantId, id],
  });
  if (!linked) throw notFound({ what: 'query', id });
  return linked;
}

/** The owner's required access: to read the datasource for a saved query, to run queries on it for an own query. */
const requiredUse = ({ queryId }: Pick<Dataset, 'queryId'>): DatasourceUse =>
  queryId ? 'datasource:read' : 'datasource:run';

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
