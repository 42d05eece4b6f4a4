import { QUERY_LIMIT_RULE, type AdHocQueryInput } from '../../../entities/datasource-input.ts';
import { DATASOURCE } from '../../../entities/owned-kinds.ts';
import { connectingIssue } from '../../core/authority.ts';
import type { Context } from '../../core/context.ts';
import { ApiError } from '../../core/errors.ts';
import { checkText, invalid } from '../../core/input-checks.ts';
import { bindParameters, parseTemplate, type BoundParameter, type ParameterDefinition } from '../../core/parameters.ts';
import type { ResourcePermission } from '../../core/permissions.ts';
import type { ConnectionTest, QueryResult, SourceTable } from '../../core/row-source.ts';
import { loadResource } from '../resource/load-resource.ts';
import { dialectOf } from './datasource-access.ts';
import { loadSource, withSource, type SealedSource } from './datasource-connection.ts';

/** Tests the connection. A source that cannot be used is a result with `ok: false`, not an error. */
export async function testConnection(ctx: Context, id: string): Promise<ConnectionTest> {
  const source = await loadPermittedSource(ctx, id, 'datasource:write');
  const startedAt = performance.now();
  try {
    return await withSource(ctx, source, (connection, signal) => connection.test(signal));
  } catch (error) {
    if (!(error instanceof ApiError) || ctx.request.signal.aborted) throw error;
    return {
      ok: false,
      latency: Math.round(performance.now() - startedAt),
      version: null,
      warnings: [],
      message: error.message,
    };
  }
}

/**
 * Lists the tables and views that the connection's role can see. Throws for a handler that may not send what it has read:
 * a connection to a server of its author shows a part of it.
 */
export async function listTables(ctx: Context, id: string): Promise<SourceTable[]> {
  const issue = ctx.request.authority && connectingIssue(ctx.request.authority);
  if (issue) throw issue;
  const source = await loadPermittedSource(ctx, id, 'datasource:run');
  return withSource(ctx, source, (connection, signal) => connection.schema(signal));
}

/**
 * Runs the caller's own query, read-only. Throws BAD_USER_INPUT with the source's message for an invalid query,
 * UPSTREAM_FAILED if the source is unreachable.
 */
export async function runAdHocQuery(
  ctx: Context,
  id: string,
  { query: text, params, limit }: AdHocQueryInput,
): Promise<QueryResult> {
  const source = await loadPermittedSource(ctx, id, 'datasource:write');
  const parameters = bindUndefinedParameters(checkText(text, 'query', Infinity), params ?? {}, source.type);
  return runQuery(ctx, source, text, parameters, limit);
}

/** Runs a query with bound parameters. Returns at most `limit` rows (default 100, maximum 1000). */
export function runQuery(
  ctx: Context,
  source: SealedSource,
  text: string,
  parameters: BoundParameter[],
  limit?: number | null,
): Promise<QueryResult> {
  const rows = limit ?? QUERY_LIMIT_RULE.default!;
  return withSource(ctx, source, (connection, signal) =>
    connection.query({ text, parameters, timeout: ctx.platform.config.QUERY_TIMEOUT_MS }, rows, signal),
  );
}

/** Binds the placeholders of a query without parameter definitions: each requires a value, whose type is the type. */
function bindUndefinedParameters(
  text: string,
  params: Record<string, unknown>,
  datasourceType: string,
): BoundParameter[] {
  const pieces = parseTemplate(text, dialectOf(datasourceType));
  const names = [...new Set(pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.name])))];
  const missing = names.find((name) => !Object.hasOwn(params, name));
  if (missing !== undefined) throw invalid(`params.${missing}`, 'is required');
  return bindParameters(
    names.map((name) => ({ name, dataType: dataTypeOf(params[name]) })),
    params,
  );
}

const dataTypeOf = (value: unknown): ParameterDefinition['dataType'] =>
  typeof value === 'number' || typeof value === 'boolean' ? (typeof value as 'number' | 'boolean') : 'string';

const loadPermittedSource = (ctx: Context, id: string, permission: ResourcePermission): Promise<SealedSource> =>
  ctx.transaction(async (tx) => {
    const datasource = await loadResource(ctx, tx, DATASOURCE, id, permission);
    return loadSource(tx, ctx.viewer.tenantId, datasource.id);
  });
