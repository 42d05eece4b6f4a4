import type { Dataset } from '../../../entities/dataset.ts';
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
import { load } from '../resource/access.ts';
import { SAVED_QUERY } from '../resource/owned-kinds.ts';

/** Where a dataset's rows come from: a saved query that it follows, or a text of its own. */
export type QuerySource = Pick<Dataset, 'queryId' | 'datasourceId' | 'query' | 'params'>;

/** The part of a saved query that datasets follow. */
export type LinkedQuery = Pick<SavedQuery, 'id' | 'datasourceId' | 'query' | 'params'>;

export const LINKED_COLUMNS = `id, datasource_id as "datasourceId", query, params`;

/** What a run of the dataset asks of which datasource. */
export interface EffectiveQuery {
  datasourceId: string;
  query: string;
  params: ParameterDefinition[];
}

/** What a dataset asks, through its link if it has one. Its own definitions stand in for those of the same name. Null for a dataset that holds rows only. */
export function effectiveQuery(
  { datasourceId, query, params }: QuerySource,
  linked: LinkedQuery | null,
): EffectiveQuery | null {
  if (linked)
    return {
      datasourceId: linked.datasourceId,
      query: linked.query,
      params: linked.params.map((one) => params.find(({ name }) => name === one.name) ?? one),
    };
  return datasourceId && query ? { datasourceId, query, params } : null;
}

/** What would change a snapshot's rows, or say that they came from elsewhere. */
export const keepsRows = (): Error => conflict('A snapshot keeps its rows');

/** The effective query of a dataset that is to run, after checking its owner's right to the datasource (contract 3): 403 without it, 409 without a query and of a snapshot. */
export async function runnableQuery(
  tx: Transaction,
  tenantId: string,
  dataset: QuerySource & Pick<Dataset, 'ownerId' | 'isSnapshot'>,
  checkOwner = true,
): Promise<EffectiveQuery> {
  if (dataset.isSnapshot) throw keepsRows();
  const effective = effectiveQuery(dataset, await linkedQuery(tx, tenantId, dataset.queryId));
  if (!effective) throw conflict('The dataset has no query to run');
  if (checkOwner) await checkOwnerMayUse(tx, tenantId, dataset.ownerId, effective.datasourceId, useOf(dataset));
  return effective;
}

export interface QueryInput {
  queryId?: string | null;
  datasourceId?: string | null;
  query?: string | null;
  params?: ParameterDefinition[] | null;
}

/** The source of a new dataset: `queryId`, or `datasourceId` and `query` that the caller may run there. */
export async function newSource(
  ctx: Context,
  tx: Transaction,
  { queryId, datasourceId, query, params }: QueryInput,
): Promise<QuerySource> {
  if (queryId && (datasourceId || query))
    throw badInput('A dataset takes either queryId, or datasourceId and query, not both');
  if (queryId) return followed(ctx, tx, queryId, params ?? []);
  if (!datasourceId && !query) throw badInput('A dataset needs either queryId, or datasourceId and query');
  return written(ctx, tx, checkText(datasourceId, 'datasourceId'), query ?? '', params ?? []);
}

/**
 * The source of a dataset after a change; null when the input changes nothing of it. What is sent as it was answered (a linked query's text,
 * for instance) is no change.
 */
export async function changedSource(
  ctx: Context,
  tx: Transaction,
  dataset: QuerySource,
  input: QueryInput,
): Promise<QuerySource | null> {
  const before = effectiveQuery(dataset, await linkedQuery(tx, ctx.viewer.tenantId, dataset.queryId));
  const changes = <K extends 'datasourceId' | 'query'>(key: K) => input[key] != null && input[key] !== before?.[key];
  const relinks = input.queryId !== undefined && input.queryId !== (dataset.queryId ?? null);
  const rewrites = changes('datasourceId') || changes('query');
  const redefines = input.params != null && !sameDefinitions(input.params, before?.params ?? []);
  const queryId = input.queryId === undefined ? dataset.queryId : input.queryId;
  const lost = queryId
    ? undefined
    : (['query', 'datasourceId'] as const).find((key) => input[key] === null && before?.[key] != null);
  if (lost) throw invalid(lost, 'must not be null');
  if (!relinks && !rewrites && !redefines) return null;
  if (queryId && rewrites)
    throw badInput('The dataset follows a saved query; set queryId to null to give it a query of its own');
  if (queryId) return followed(ctx, tx, queryId, input.params ?? (relinks ? [] : dataset.params));
  return written(
    ctx,
    tx,
    checkText(input.datasourceId ?? before?.datasourceId, 'datasourceId'),
    input.query ?? before?.query ?? '',
    input.params ?? before?.params ?? [],
  );
}

/** A live link: the caller reads the query, and its datasource. Own definitions replace the query's of the same name. */
async function followed(
  ctx: Context,
  tx: Transaction,
  queryId: string,
  params: ParameterDefinition[],
): Promise<QuerySource> {
  const saved = await load(ctx, tx, SAVED_QUERY, queryId, 'query:read');
  const datasource = await loadUsableDatasource(ctx, tx, saved.datasourceId, 'datasource:read');
  const unknown = params.find(({ name }) => !saved.params.some((one) => one.name === name));
  if (unknown) throw invalid('params', `names ${JSON.stringify(unknown.name)}, which the query does not have`);
  const own = storedDefinitions(params).filter(
    (one) =>
      !sameDefinitions(
        [one],
        saved.params.filter(({ name }) => name === one.name),
      ),
  );
  checkParameters(saved.query, effectiveQuery({ params: own }, saved)!.params, dialectOf(datasource.type));
  return { queryId: saved.id, datasourceId: null, query: null, params: own };
}

async function written(
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

/** The saved query that a dataset follows. */
export async function linkedQuery(
  tx: Transaction,
  tenantId: string,
  id: string | null | undefined,
): Promise<LinkedQuery | null> {
  if (!id) return null;
  const [linked] = await tx.query<LinkedQuery>({
    text: `select ${LINKED_COLUMNS} from dws.saved_query where tenant_id = $1 and id = $2`,
    values: [tenantId, id],
  });
  if (!linked) throw notFound({ what: 'query', id });
  return linked;
}

/** Who follows a saved query needs to read the datasource; who wrote the text must be allowed to run it. */
const useOf = ({ queryId }: Pick<Dataset, 'queryId'>): DatasourceUse =>
  queryId ? 'datasource:read' : 'datasource:run';
