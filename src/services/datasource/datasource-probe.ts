import type { Context } from '../../core/context.ts';
import { ApiError } from '../../core/errors.ts';
import { checkText, invalid } from '../../core/input-checks.ts';
import { bindParameters, parseTemplate, type BoundParameter, type ParameterDefinition } from '../../core/parameters.ts';
import type { ResourcePermission } from '../../core/permissions.ts';
import type { ConnectionTest, QueryResult, SourceTable } from '../../core/row-source.ts';
import { load } from '../resource/load-resource.ts';
import { DATASOURCE } from '../resource/owned-kinds.ts';
import { dialectOf } from './datasource-access.ts';
import { readSource, withSource, type SealedSource } from './datasource-connection.ts';

/** Rows that a query for people answers (contract 5). */
const MAX_ROWS = 1000;
const DEFAULT_ROWS = 100;

/** Tries the connection. A source that cannot be used is an answer, not an error. */
export async function test(ctx: Context, id: string): Promise<ConnectionTest> {
  const source = await open(ctx, id, 'datasource:write');
  const began = performance.now();
  try {
    return await withSource(ctx, source, (connection, signal) => connection.test(signal));
  } catch (error) {
    if (!(error instanceof ApiError) || ctx.request.signal.aborted) throw error;
    return {
      ok: false,
      latency: Math.round(performance.now() - began),
      version: null,
      warnings: [],
      message: error.message,
    };
  }
}

/** The tables and views that the connection's role sees. */
export async function schema(ctx: Context, id: string): Promise<SourceTable[]> {
  return withSource(ctx, await open(ctx, id, 'datasource:run'), (connection, signal) => connection.schema(signal));
}

export interface AdHocQuery {
  query: string;
  /** Values by name, typed as they are. */
  params?: Record<string, unknown> | null;
  limit?: number | null;
}

/** Runs a query of the caller's own, read-only, for at most 1,000 rows. The source's complaint about it is 400, an unreachable source 500. */
export async function query(
  ctx: Context,
  id: string,
  { query: text, params, limit }: AdHocQuery,
): Promise<QueryResult> {
  const source = await open(ctx, id, 'datasource:write');
  const parameters = valuesOf(checkText(text, 'query', Infinity), params ?? {}, source.type);
  return runQuery(ctx, source, text, parameters, limit);
}

/** Runs a query whose parameters are bound, for at most `limit` rows (100 unless said, 1,000 at most). */
export function runQuery(
  ctx: Context,
  source: SealedSource,
  text: string,
  parameters: BoundParameter[],
  limit?: number | null,
): Promise<QueryResult> {
  const rows = limit ?? DEFAULT_ROWS;
  if (!Number.isInteger(rows) || rows < 1 || rows > MAX_ROWS)
    throw invalid('limit', `must be a whole number from 1 to ${MAX_ROWS}`);
  return withSource(ctx, source, (connection, signal) =>
    connection.query({ text, parameters, timeout: ctx.platform.config.QUERY_TIMEOUT_MS }, rows, signal),
  );
}

/** Without definitions every placeholder needs a value, and the value says its type. */
function valuesOf(text: string, params: Record<string, unknown>, type: string): BoundParameter[] {
  const names = [
    ...new Set(
      parseTemplate(text, dialectOf(type)).flatMap((piece) => (typeof piece === 'string' ? [] : [piece.name])),
    ),
  ];
  const missing = names.find((name) => !Object.hasOwn(params, name));
  if (missing !== undefined) throw invalid(`params.${missing}`, 'is required');
  const dataType = (value: unknown): ParameterDefinition['dataType'] =>
    typeof value === 'number' || typeof value === 'boolean' ? (typeof value as 'number' | 'boolean') : 'string';
  return bindParameters(
    names.map((name) => ({ name, dataType: dataType(params[name]) })),
    params,
  );
}

const open = (ctx: Context, id: string, permission: ResourcePermission): Promise<SealedSource> =>
  ctx.transaction(async (tx) =>
    readSource(tx, ctx.viewer.tenantId, (await load(ctx, tx, DATASOURCE, id, permission)).id),
  );
