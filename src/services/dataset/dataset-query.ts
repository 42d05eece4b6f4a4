import type { UpdateDatasetInput } from '../../../entities/dataset-input.ts';
import type { Dataset } from '../../../entities/dataset.ts';
import { SAVED_QUERY } from '../../../entities/owned-kinds.ts';
import type { SavedQuery } from '../../../entities/saved-query.ts';
import type { Context } from '../../core/context.ts';
import { badInput, conflict, notFound } from '../../core/errors.ts';
import { checkText, invalid } from '../../core/input-checks.ts';
import { checkParameters, type ParameterDefinition } from '../../core/parameters.ts';
import type { Transaction } from '../../core/platform.ts';
import {
  checkOwnerMayUse,
  dialectOf,
  loadUsableDatasource,
  type DatasourceUse,
} from '../datasource/datasource-access.ts';
import { sameDefinitions, storedDefinitions } from '../datasource/query-parameter.ts';
import { loadUsedResource } from '../resource/load-resource.ts';

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

type QueryInput = Pick<UpdateDatasetInput, 'queryId' | 'datasourceId' | 'query' | 'params'>;

/** Returns the source of a new dataset. Throws unless the caller may follow the saved query, or run the query. */
export async function resolveNewSource(
  ctx: Context,
  tx: Transaction,
  { queryId, datasourceId, query, params }: QueryInput,
): Promise<QuerySource> {
  if (queryId && (datasourceId || query))
    throw badInput('A dataset requires either queryId, or datasourceId and query, not both');
  if (queryId) return resolveLinkedQuery(ctx, tx, queryId, params ?? []);
  if (!datasourceId && !query) throw badInput('A dataset requires either queryId, or datasourceId and query');
  return resolveOwnQuery(ctx, tx, checkText(datasourceId, 'datasourceId'), query ?? '', params ?? []);
}

/**
 * Returns the source of a dataset after an update; null if the input does not change it. A value that equals the
 * current one does not count as a change, so that clients can send back a dataset with, for instance, the text of its
 * saved query.
 */
export async function resolveChangedSource(
  ctx: Context,
  tx: Transaction,
  dataset: QuerySource,
  input: QueryInput,
): Promise<QuerySource | null> {
  const before = effectiveQuery(dataset, await loadLinkedQuery(tx, ctx.viewer.tenantId, dataset.queryId));
  const changes = <K extends 'datasourceId' | 'query'>(key: K) => input[key] != null && input[key] !== before?.[key];
  const relinks = input.queryId !== undefined && input.queryId !== (dataset.queryId ?? null);
  const rewrites = changes('datasourceId') || changes('query');
  const redefines = input.params != null && !sameDefinitions(input.params, before?.params ?? []);
  const queryId = input.queryId === undefined ? dataset.queryId : input.queryId;
  const cleared = queryId
    ? undefined
    : (['query', 'datasourceId'] as const).find((key) => input[key] === null && before?.[key] != null);
  if (cleared) throw invalid(cleared, 'must not be null');
  if (!relinks && !rewrites && !redefines) return null;
  if (queryId && rewrites)
    throw badInput('The dataset follows a saved query; set queryId to null to set a query of its own');
  if (queryId) return resolveLinkedQuery(ctx, tx, queryId, input.params ?? (relinks ? [] : dataset.params));
  return resolveOwnQuery(
    ctx,
    tx,
    checkText(input.datasourceId ?? before?.datasourceId, 'datasourceId'),
    input.query ?? before?.query ?? '',
    input.params ?? before?.params ?? [],
  );
}

/**
 * Returns a link to a saved query. Throws unless the caller can read the query and its datasource. `params` override
 * the query's parameters of the same names.
 */
async function resolveLinkedQuery(
  ctx: Context,
  tx: Transaction,
  queryId: string,
  params: ParameterDefinition[],
): Promise<QuerySource> {
  const saved = await loadUsedResource(ctx, tx, SAVED_QUERY, queryId, 'query:read');
  const datasource = await loadUsableDatasource(ctx, tx, saved.datasourceId, 'datasource:read');
  const unknown = params.find(({ name }) => !saved.params.some((parameter) => parameter.name === name));
  if (unknown) throw invalid('params', `names ${JSON.stringify(unknown.name)}, which is not a parameter of the query`);
  const isOverride = (own: ParameterDefinition) =>
    !sameDefinitions(
      [own],
      saved.params.filter(({ name }) => name === own.name),
    );
  const own = storedDefinitions(params).filter(isOverride);
  checkParameters(saved.query, effectiveQuery({ params: own }, saved)!.params, dialectOf(datasource.type));
  return { queryId: saved.id, datasourceId: null, query: null, params: own };
}

/** Returns a query of the dataset's own. Throws unless the caller may run queries on the datasource. */
async function resolveOwnQuery(
  ctx: Context,
  tx: Transaction,
  datasourceId: string,
  query: string,
  params: ParameterDefinition[],
): Promise<QuerySource> {
  const datasource = await loadUsableDatasource(ctx, tx, datasourceId, 'datasource:run');
  checkText(query, 'query', Infinity);
  checkParameters(query, params, dialectOf(datasource.type));
  return { queryId: null, datasourceId: datasource.id, query, params: storedDefinitions(params) };
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
