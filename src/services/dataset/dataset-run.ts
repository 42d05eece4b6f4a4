import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatasetRun } from '../../../entities/dataset-run.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { keepsRowCount, type FlowStep } from '../../core/flow/flow.ts';
import { bindParameters } from '../../core/parameters.ts';
import type { BoundQuery, SourceConnection } from '../../core/row-source.ts';
import { loadSource, toRunError, withSource, type SealedSource } from '../datasource/datasource-connection.ts';
import { LoadProgress } from '../operation/load-progress.ts';
import { runInline } from '../operation/operation-inline.ts';
import { loadResource } from '../resource/load-resource.ts';
import { runnableQuery } from './dataset-refresh.ts';

/**
 * Runs a dataset's query at the source, with the access of its owner, and counts the rows. Stores nothing. With
 * `progress` a client can follow and cancel the run.
 */
export async function run(
  ctx: Context,
  id: string,
  params?: Record<string, unknown> | null,
  progress?: string | number | null,
): Promise<DatasetRun> {
  const { datasetId, source, query, lastRows } = await prepareRun(ctx, id, params ?? {});
  return runInline(
    ctx,
    { operation: 'dataset.run', resource: { kind: 'dataset', id: datasetId }, progress, unit: 'rows' },
    async (job) => {
      const startedAt = performance.now();
      const records = await withSource(
        ctx,
        source,
        (connection, signal) => countRows(connection, query, signal, new LoadProgress(job.progress, lastRows)),
        { signal: job.signal },
      ).catch((error: unknown) => {
        throw toRunError(error);
      });
      return {
        records,
        duration: Math.round(performance.now() - startedAt),
        success: true,
        params: Object.fromEntries(query.parameters.map(({ name, value }) => [name, value])),
      };
    },
  );
}

interface PreparedRun {
  datasetId: string;
  source: SealedSource;
  query: BoundQuery;
  flow: FlowStep[];
  /** Number of rows of the query at the last refresh; null if it is unknown. */
  lastRows: number | null;
}

/**
 * Checks permissions and parameters before the query reaches the source. `params` null is for describing the query:
 * every parameter takes its default, and none is required.
 */
export function prepareRun(ctx: Context, id: string, params: Record<string, unknown> | null): Promise<PreparedRun> {
  const { tenantId } = ctx.viewer;
  return ctx.transaction(async (tx) => {
    const dataset = await loadResource(ctx, tx, DATASET, id, 'dataset:write');
    const { datasourceId, query: text, params: definitions } = await runnableQuery(tx, tenantId, dataset);
    const parameters = params
      ? bindParameters(definitions, params)
      : bindParameters(definitions.map((definition) => ({ ...definition, required: false })));
    return {
      datasetId: dataset.id,
      source: await loadSource(tx, tenantId, datasourceId),
      query: { text, parameters, timeout: ctx.platform.config.QUERY_TIMEOUT_MS },
      flow: dataset.flow,
      lastRows: dataset.generationId && keepsRowCount(dataset.flow) ? dataset.records : null,
    };
  });
}

/** Reads all rows of a query as a refresh does, discards them and returns their number. Reports the progress. */
export async function countRows(
  connection: SourceConnection,
  query: BoundQuery,
  signal: AbortSignal,
  progress?: LoadProgress,
): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'dws-run-'));
  try {
    let records = 0;
    for await (const segment of connection.segments(query, dir, signal, progress?.read, progress?.estimate)) {
      records += segment.rows;
      if (segment.temporary) await rm(segment.path, { force: true });
    }
    progress?.readAll(records);
    return records;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
