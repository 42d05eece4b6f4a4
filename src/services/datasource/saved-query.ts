import { LRUCache } from 'lru-cache';
import { SAVED_QUERY } from '../../../entities/owned-kinds.ts';
import type { CreateSavedQueryInput, UpdateSavedQueryInput } from '../../../entities/saved-query-input.ts';
import type { SavedQuery } from '../../../entities/saved-query.ts';
import { connectingIssue, keepingIssue } from '../../core/authority.ts';
import type { Context } from '../../core/context.ts';
import { ApiError } from '../../core/errors.ts';
import { distinctNames, type Field } from '../../core/fields.ts';
import { checkText } from '../../core/input-checks.ts';
import {
  bindParameters,
  checkParameters,
  type BoundParameter,
  type ParameterDefinition,
  sameDefinitions,
  storedDefinitions,
} from '../../core/parameters.ts';
import type { Transaction } from '../../core/platform.ts';
import type { QueryResult } from '../../core/row-source.ts';
import { loadResource, loadUsedResource } from '../resource/load-resource.ts';
import { createOwned, updateOwned } from '../resource/owned-kind.ts';
import { checkUnused } from '../resource/references.ts';
import { checkOwnerMayUse, dialectOf, loadUsableDatasource } from './datasource-access.ts';
import { loadSource, withSource, type SealedSource } from './datasource-connection.ts';
import { runQuery } from './datasource-probe.ts';

/** Saves a query on a datasource that the caller may run queries on. Returns the id. */
export async function create(
  ctx: Context,
  { datasourceId, language: _language, query, params, ...input }: CreateSavedQueryInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const content = await checkContent(ctx, tx, {
      datasourceId: checkText(datasourceId, 'datasourceId'),
      query,
      params: params ?? [],
    });
    return (await createOwned(ctx, tx, SAVED_QUERY, input, content)).id;
  });
}

/**
 * Changes a saved query. Changing its text, parameters or datasource requires `datasource:run` on the datasource.
 * Returns the id.
 */
export async function update(
  ctx: Context,
  id: string,
  { datasourceId, language: _language, query, params, ...input }: UpdateSavedQueryInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const saved = await loadResource(ctx, tx, SAVED_QUERY, id, 'query:write', { ifMatch: ctx.ifMatch });
    const content = {
      datasourceId: datasourceId ?? saved.datasourceId,
      query: query ?? saved.query,
      params: params ?? saved.params,
    };
    const isChanged =
      content.datasourceId !== saved.datasourceId ||
      content.query !== saved.query ||
      !sameDefinitions(content.params, saved.params);
    if (isChanged) Object.assign(saved, await checkContent(ctx, tx, content), { fields: null });
    await updateOwned(ctx, tx, SAVED_QUERY, saved, input);
    return saved.id;
  });
}

/** Deletes a saved query. Throws CONFLICT listing the datasets that follow it, if any. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const saved = await loadResource(ctx, tx, SAVED_QUERY, id, 'query:delete', { ifMatch: ctx.ifMatch });
    await checkUnused(ctx, tx, 'query', saved.id);
    tx.remove(saved);
  });
}

/** Runs a saved query with the owner's permission on the datasource. `params` override the parameters' defaults. */
export async function run(
  ctx: Context,
  id: string,
  params?: Record<string, unknown> | null,
  limit?: number | null,
): Promise<QueryResult> {
  const { source, text, parameters } = await prepareRun(ctx, id, (definitions) =>
    bindParameters(definitions, params ?? {}),
  );
  return runQuery(ctx, source, text, parameters, limit);
}

const DESCRIBE_TIMEOUT_MS = 5000;

/**
 * Returns the fields of the result of a saved query, and saves them, so that reading them again requires no connection.
 * They are empty if the source refuses the query. They are empty, but not saved, if it does not respond in time, and
 * for a caller who may not run the query. They are also empty, without a connection, for a handler that may not send
 * and keep what it has read: the connection and the saved fields would show authors which queries it reads.
 */
export async function describe(ctx: Context, id: string): Promise<Field[]> {
  const { authority } = ctx.request;
  if (authority && (connectingIssue(authority) ?? keepingIssue(authority))) return [];
  if (recentFailures.has(id)) return [];
  try {
    const run = await prepareRun(ctx, id, (definitions) =>
      bindParameters(definitions.map((definition) => ({ ...definition, required: false }))),
    );
    const fields = await describeResult(ctx, run).catch(ignoreRefusal);
    // Not saved if the query has changed since it was read.
    await ctx.query({
      text: `update dws.saved_query set fields = $3 where tenant_id = $1 and id = $2 and version = $4`,
      values: [ctx.viewer.tenantId, id, JSON.stringify(fields), run.version],
    });
    return fields;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'UPSTREAM_FAILED') recentFailures.set(id, true);
    return [];
  }
}

/** Queries whose source did not respond to this process a moment ago: reading them does not wait for it each time. */
const recentFailures = new LRUCache<string, true>({ max: 1000, ttl: 60_000 });

async function describeResult(ctx: Context, { source, text, parameters }: PreparedRun): Promise<Field[]> {
  const columns = await withSource(
    ctx,
    source,
    (connection, signal) => connection.describe({ text, parameters, timeout: DESCRIBE_TIMEOUT_MS }, signal),
    { timeoutMs: DESCRIBE_TIMEOUT_MS },
  );
  const names = distinctNames(columns.map(({ name }) => name));
  return columns.map(({ type }, i) => ({ name: names[i]!, label: names[i]!, type }));
}

/** Returns no fields for a query that the source refuses. Other errors may disappear by the next call. */
function ignoreRefusal(error: unknown): Field[] {
  if (error instanceof ApiError && error.code === 'BAD_USER_INPUT') return [];
  throw error;
}

interface PreparedRun {
  /** Version of the saved query. */
  version: number;
  source: SealedSource;
  text: string;
  parameters: BoundParameter[];
}

/** Checks permissions and parameters before a connection to the source is opened. */
function prepareRun(
  ctx: Context,
  id: string,
  bind: (definitions: ParameterDefinition[]) => BoundParameter[],
): Promise<PreparedRun> {
  const { tenantId } = ctx.viewer;
  return ctx.transaction(async (tx) => {
    const saved = await loadUsedResource(ctx, tx, SAVED_QUERY, id, 'query:run');
    await checkOwnerMayUse(tx, tenantId, saved.ownerId, saved.datasourceId, 'datasource:read');
    return {
      version: saved.version,
      source: await loadSource(tx, tenantId, saved.datasourceId),
      text: saved.query,
      parameters: bind(saved.params),
    };
  });
}

type QueryContent = Pick<SavedQuery, 'datasourceId' | 'query' | 'params'>;

async function checkContent(
  ctx: Context,
  tx: Transaction,
  { datasourceId, query, params }: QueryContent,
): Promise<QueryContent> {
  const datasource = await loadUsableDatasource(ctx, tx, datasourceId, 'datasource:run');
  checkText(query, 'query', Infinity);
  checkParameters(query, params, dialectOf(datasource.type));
  return { datasourceId: datasource.id, query, params: storedDefinitions(params) };
}
