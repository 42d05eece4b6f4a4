import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../../core/context.ts';
import { distinctNames, type Field } from '../../core/fields.ts';
import { checkFlow } from '../../core/flow/check.ts';
import type { FlowStep } from '../../core/flow/flow.ts';
import { bindParameters, type ParameterValue } from '../../core/parameters.ts';
import type { BoundQuery, SourceConnection } from '../../core/row-source.ts';
import { loadSource, toRunError, withSource, type SealedSource } from '../datasource/datasource-connection.ts';
import { runInline } from '../operation/operation-inline.ts';
import { load } from '../resource/access.ts';
import { DATASET } from '../resource/owned-kinds.ts';
import { countedChanges, mergedFields, type FieldChanges } from './dataset-fields.ts';
import { runnableQuery } from './dataset-query.ts';
import { notifyBrokenFilters } from './saved-filter-notice.ts';

/** Answer of a run (specification, "Dataset run, refresh, benchmark"). `params` are the effective values. */
export interface RunResult {
  records: number;
  /** Milliseconds. */
  duration: number;
  success: true;
  params: Record<string, ParameterValue>;
}

/** Runs the dataset's query at the source, on its owner's right, and counts its rows. Nothing is stored. With `progress` the run can be followed and cancelled. */
export async function run(
  ctx: Context,
  id: string,
  params?: Record<string, unknown> | null,
  progress?: string | number | null,
): Promise<RunResult> {
  const { datasetId, source, query } = await prepared(ctx, id, params ?? {});
  return runInline(
    ctx,
    { operation: 'dataset.run', resource: { kind: 'dataset', id: datasetId }, progress, unit: 'rows' },
    async (errand) => {
      const began = performance.now();
      const records = await withSource(
        ctx,
        source,
        (connection, signal) => countRows(connection, query, signal, (current) => errand.progress({ current })),
        { signal: errand.signal },
      ).catch((error: unknown) => {
        throw toRunError(error);
      });
      return {
        records,
        duration: Math.round(performance.now() - began),
        success: true,
        params: Object.fromEntries(query.parameters.map(({ name, value }) => [name, value])),
      };
    },
  );
}

/** Asks the source what the query answers with now and brings the dataset's fields up to date; its rows follow with the next refresh. */
export async function syncFields(ctx: Context, id: string): Promise<FieldChanges & { fields: Field[] }> {
  const { source, query, flow } = await prepared(ctx, id, null);
  const columns = await withSource(ctx, source, (connection, signal) => connection.describe(query, signal));
  const names = distinctNames(columns.map(({ name }) => name));
  const described = checkFlow(
    flow,
    columns.map(({ type }, i) => ({ name: names[i]!, type })),
  );
  return ctx.transaction(async (tx) => {
    const dataset = await load(ctx, tx, DATASET, id, 'dataset:write');
    const before = dataset.fields;
    dataset.fields = mergedFields(before, described);
    await notifyBrokenFilters(tx, dataset.tenantId, dataset.id, before, dataset.fields);
    return { ...countedChanges(before, dataset.fields), fields: dataset.fields };
  });
}

interface PreparedRun {
  datasetId: string;
  source: SealedSource;
  query: BoundQuery;
  flow: FlowStep[];
}

/** Checks rights and parameters before the source is asked. Without `params` the query is only described: it takes the defaults, and nothing is required. */
function prepared(ctx: Context, id: string, params: Record<string, unknown> | null): Promise<PreparedRun> {
  const { tenantId } = ctx.viewer;
  return ctx.transaction(async (tx) => {
    const dataset = await load(ctx, tx, DATASET, id, 'dataset:write');
    const { datasourceId, query: text, params: definitions } = await runnableQuery(tx, tenantId, dataset);
    const parameters = params
      ? bindParameters(definitions, params)
      : bindParameters(definitions.map((one) => ({ ...one, required: false })));
    return {
      datasetId: dataset.id,
      source: await loadSource(tx, tenantId, datasourceId),
      query: { text, parameters, timeout: ctx.platform.config.QUERY_TIMEOUT_MS },
      flow: dataset.flow,
    };
  });
}

/** Reads all rows as a refresh would, and drops them. */
export async function countRows(
  connection: SourceConnection,
  query: BoundQuery,
  signal: AbortSignal,
  tell: (records: number) => void,
): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'dws-run-'));
  try {
    let records = 0;
    for await (const segment of connection.segments(query, dir, signal)) {
      records += segment.rows;
      tell(records);
      if (segment.temporary) await rm(segment.path, { force: true });
    }
    return records;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
