import { isDeepStrictEqual } from 'node:util';
import type { CreateDatasetInput, UpdateDatasetInput, FieldLabelInput } from '../../../entities/dataset-input.ts';
import type { Dataset } from '../../../entities/dataset.ts';
import { DATASET, SAVED_QUERY } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { ApiError, badInput } from '../../core/errors.ts';
import type { Field } from '../../core/fields.ts';
import { parseFlow } from '../../core/flow/parse.ts';
import { invalid, checkText } from '../../core/input-checks.ts';
import {
  checkParameters,
  type ParameterDefinition,
  sameDefinitions,
  storedDefinitions,
} from '../../core/parameters.ts';
import type { Transaction } from '../../core/platform.ts';
import { dialectOf, loadUsableDatasource } from '../datasource/datasource-access.ts';
import { wait } from '../operation/operation-wait.ts';
import { loadResource, loadUsedResource } from '../resource/load-resource.ts';
import { createOwned, updateOwned } from '../resource/owned-kind.ts';
import { checkUnused } from '../resource/references.ts';
import { changeFieldSecurity } from './dataset-field-security.ts';
import {
  startRefresh,
  loadForRefresh,
  stopRefresh,
  effectiveQuery,
  loadLinkedQuery,
  snapshotConflict,
  type QuerySource,
} from './dataset-refresh.ts';
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
  if (fields?.length)
    await ctx.transaction(async (tx) => {
      const dataset = await loadResource(ctx, tx, DATASET, created.id, 'dataset:write');
      dataset.fields = applyLabels(dataset.fields, fields);
    });
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

type QueryInput = Pick<UpdateDatasetInput, 'queryId' | 'datasourceId' | 'query' | 'params'>;

/** Returns the source of a new dataset. Throws unless the caller may follow the saved query, or run the query. */
async function resolveNewSource(
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

/** Returns the fields with labels and descriptions from the input. Throws 400 for an unknown field and a long text. */
function applyLabels(fields: readonly Field[], labels: readonly FieldLabelInput[]): Field[] {
  labels.forEach(({ name }, i) => {
    if (!fields.some((field) => field.name === name))
      throw invalid(`fields.${i}.name`, `is not a field of the dataset: ${JSON.stringify(name)}`);
  });
  const byName = new Map(labels.map((label) => [label.name, label]));
  return fields.map((field) => applyLabel(field, byName.get(field.name)));
}

function applyLabel(field: Field, input: FieldLabelInput | undefined): Field {
  if (!input) return field;
  const { description: former, ...rest } = field;
  const description = input.description === undefined ? former : input.description?.trim();
  const label = input.label === undefined ? field.label : input.label?.trim() || field.name;
  return { ...rest, label, ...(description && { description }) };
}
