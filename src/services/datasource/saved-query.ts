import type { SavedQuery } from '../../../entities/saved-query.ts';
import type { Context } from '../../core/context.ts';
import { ApiError } from '../../core/errors.ts';
import { distinctNames, type Field } from '../../core/fields.ts';
import { checkText, invalid } from '../../core/input-checks.ts';
import {
  bindParameters,
  checkParameters,
  type BoundParameter,
  type ParameterDefinition,
} from '../../core/parameters.ts';
import type { Transaction } from '../../core/platform.ts';
import type { QueryResult } from '../../core/row-source.ts';
import { load } from '../resource/load-resource.ts';
import { createOwned, updateOwned, type OwnedInput } from '../resource/owned-kind.ts';
import { SAVED_QUERY } from '../resource/owned-kinds.ts';
import { checkUnused } from '../resource/references.ts';
import { checkOwnerMayUse, dialectOf, usable } from './datasource-access.ts';
import { readSource, withSource, type SealedSource } from './datasource-connection.ts';
import { runQuery } from './datasource-probe.ts';
import { sameDefinitions, storedDefinitions } from './query-parameter.ts';

export interface SavedQueryInput extends OwnedInput {
  datasourceId?: string | null;
  language?: string | null;
  query?: string | null;
  params?: ParameterDefinition[] | null;
}

/** Saves a query on a datasource that the caller may run queries on. Answers the id. */
export async function create(
  ctx: Context,
  { datasourceId, language, query, params, ...input }: SavedQueryInput,
): Promise<string> {
  checkLanguage(language);
  const id = await ctx.transaction(async (tx) => {
    const content = await checkedContent(ctx, tx, {
      datasourceId: checkText(datasourceId, 'datasourceId'),
      query: query ?? '',
      params: params ?? [],
    });
    return (await createOwned(ctx, tx, SAVED_QUERY, input, content)).id;
  });
  await noteFields(ctx, id);
  return id;
}

/** Changes a saved query; its text, parameters and datasource only by those who may run queries on the datasource. Answers the id. */
export async function update(
  ctx: Context,
  id: string,
  { datasourceId, language, query, params, ...input }: SavedQueryInput,
): Promise<string> {
  checkLanguage(language);
  const updated = await ctx.transaction(async (tx) => {
    const saved = await load(ctx, tx, SAVED_QUERY, id, 'query:write', { ifMatch: ctx.ifMatch });
    const wanted = {
      datasourceId: datasourceId ?? saved.datasourceId,
      query: query ?? saved.query,
      params: params ?? saved.params,
    };
    const changed =
      wanted.datasourceId !== saved.datasourceId ||
      wanted.query !== saved.query ||
      !sameDefinitions(wanted.params, saved.params);
    if (changed) Object.assign(saved, await checkedContent(ctx, tx, wanted), { fields: [] });
    await updateOwned(ctx, tx, SAVED_QUERY, saved, input);
    return { id: saved.id, changed };
  });
  if (updated.changed) await noteFields(ctx, updated.id);
  return updated.id;
}

/** Deletes a saved query that no dataset follows; 409 otherwise, listing them. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const saved = await load(ctx, tx, SAVED_QUERY, id, 'query:delete', { ifMatch: ctx.ifMatch });
    await checkUnused(ctx, tx, 'query', saved.id);
    tx.em.remove(saved);
  });
}

/** Runs a saved query for people, on its owner's right to the datasource. `params` override the defaults. */
export async function run(
  ctx: Context,
  id: string,
  params?: Record<string, unknown> | null,
  limit?: number | null,
): Promise<QueryResult> {
  const { source, text, parameters } = await prepared(ctx, id, (definitions) =>
    bindParameters(definitions, params ?? {}),
  );
  return runQuery(ctx, source, text, parameters, limit);
}

/** A source that takes longer to describe a query is not waited for. Milliseconds. */
const DESCRIBE_TIMEOUT_MS = 5000;

/** Notes the fields of the query's answer, so that readers need not ask the source. A source that cannot say, or complains, keeps nobody from saving. */
async function noteFields(ctx: Context, id: string): Promise<void> {
  try {
    const { source, text, parameters } = await prepared(ctx, id, (definitions) =>
      bindParameters(definitions.map((one) => ({ ...one, required: false }))),
    );
    const columns = await withSource(
      ctx,
      source,
      (connection, signal) => connection.describe({ text, parameters, timeout: DESCRIBE_TIMEOUT_MS }, signal),
      { longest: DESCRIBE_TIMEOUT_MS },
    );
    const names = distinctNames(columns.map(({ name }) => name));
    const fields: Field[] = columns.map(({ type }, i) => ({ name: names[i]!, label: names[i]!, type }));
    await ctx.query({
      text: `update dws.saved_query set fields = $3 where tenant_id = $1 and id = $2 and query = $4`,
      values: [ctx.viewer.tenantId, id, JSON.stringify(fields), text],
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

/** Checks rights and parameters before the source is asked. */
function prepared(
  ctx: Context,
  id: string,
  bind: (definitions: ParameterDefinition[]) => BoundParameter[],
): Promise<{ source: SealedSource; text: string; parameters: BoundParameter[] }> {
  const { tenantId } = ctx.viewer;
  return ctx.transaction(async (tx) => {
    const saved = await load(ctx, tx, SAVED_QUERY, id, 'query:run');
    await checkOwnerMayUse(tx, tenantId, saved.ownerId, saved.datasourceId, 'datasource:read');
    return {
      source: await readSource(tx, tenantId, saved.datasourceId),
      text: saved.query,
      parameters: bind(saved.params),
    };
  });
}

type Content = Pick<SavedQuery, 'datasourceId' | 'query' | 'params'>;

async function checkedContent(
  ctx: Context,
  tx: Transaction,
  { datasourceId, query, params }: Content,
): Promise<Content> {
  const datasource = await usable(ctx, tx, datasourceId, 'datasource:run');
  checkText(query, 'query', Infinity);
  checkParameters(query, params, dialectOf(datasource.type));
  return { datasourceId: datasource.id, query, params: storedDefinitions(params) };
}

function checkLanguage(language: string | null | undefined): void {
  if (language != null && language !== 'sql') throw invalid('language', 'must be sql');
}
