import type { DatasetRefresh } from '../../entities/dataset-refresh.ts';
import type { LastRefresh } from '../../entities/dataset.ts';
import { loadingBytes } from '../adapters/dataset-index/duckdb/generation-files.ts';
import { readOwnDatabase } from '../adapters/drivers/own-database.ts';
import type { Config } from '../core/config.ts';
import type { Query } from '../core/database.ts';
import type { Generation } from '../core/dataset-index.ts';
import { notFound } from '../core/errors.ts';
import type { Field } from '../core/fields.ts';
import { keepsRowCount, type FlowStep } from '../core/flow/flow.ts';
import { newId } from '../core/id.ts';
import { PUBLISHING, type DatasetRefreshInput, type OperationFailure } from '../core/operations.ts';
import type { Platform, Transaction } from '../core/platform.ts';
import type { NewFile } from '../core/row-source.ts';
import { refreshEnd } from '../services/dataset/dataset-upload-cleanup.ts';
import { loadSource, openSource, toRunError } from '../services/datasource/datasource-connection.ts';
import type { Claim } from '../services/operation/operation-repository.ts';
import { recordRefreshActivity } from '../services/resource/activity.ts';
import { whileStorageAllows } from '../services/resource/storage-limit.ts';
import { publishGeneration } from './dataset-publish.ts';
import type { Handler, RunningClaim } from './handler.ts';
import type { LoaderOptions, LoadJob } from './load-job.ts';
import { startLoad, type LoadProcess } from './load-process.ts';
import { withQueryTimeout } from './query-timeout.ts';

type RefreshClaim = Claim<'dataset.refresh'>;

/** Replaces the rows of a dataset with the rows of its query. Readers see the old rows until all new ones are loaded. */
export const datasetRefresh = (options: LoaderOptions): Handler<'dataset.refresh'> => ({
  takeover: true,
  async run(job, platform) {
    const { generation, load } = await loadRows(options, platform, job, job.input);
    let published: Generation | undefined;
    return {
      async publish(tx) {
        const result = await publishRefresh(tx, job, generation, platform.config);
        published = generation;
        return result;
      },
      warnings: generation.warnings,
      release: () => load.release(published),
    };
  },
  onFailure: recordFailure,
});

/**
 * Loads the rows of a query into a generation that no reader sees yet. The caller releases the returned load in every
 * case. Throws UPSTREAM_FAILED after `REFRESH_TIMEOUT_MS` and for errors of the source. `newFile` is read in place of the
 * file of the datasource.
 */
export async function loadRows(
  options: LoaderOptions,
  platform: Platform,
  job: RunningClaim,
  input: DatasetRefreshInput,
  newFile?: NewFile,
): Promise<{ generation: Generation; load: LoadProcess }> {
  const loadJob = await prepareLoad(options, platform, job, input, newFile);
  const loadUntil = async (signal: AbortSignal) => {
    const load = startLoad(platform, loadJob, signal, job.progress);
    try {
      const generation = await load.generation;
      job.progress({ message: PUBLISHING });
      return { generation, load };
    } catch (error) {
      await load.release();
      throw input.upload || newFile ? error : toRunError(error);
    }
  };
  return withQueryTimeout(platform, job, (signal) =>
    whileStorageAllows(platform, runningLoad(job.tenantId, input.datasetId, loadJob), signal, loadUntil),
  );
}

/** Returns what is known of a load while it runs. */
export const runningLoad = (tenantId: string, datasetId: string, { index, generationId }: LoadJob) => ({
  tenantId,
  datasetId,
  bytes: () => loadingBytes(index.dir, generationId),
});

/** Publishes a generation as the result of a refresh and records the activity. */
export async function publishRefresh(
  tx: Transaction,
  claim: Claim,
  generation: Generation,
  { TENANT_QUOTA_BYTES: quota }: Config,
): Promise<DatasetRefresh> {
  const result = await publishGeneration(tx, claim, claim.resourceId, generation, quota);
  await recordRefreshActivity(tx, claim, 'refreshed', { records: result.records, duration: result.duration });
  return result;
}

/**
 * Reads source, query and plan of a load. The dataset's own fields are used only after its first refresh.
 * Throws NOT_FOUND without the dataset or its datasource.
 */
export async function prepareLoad(
  options: LoaderOptions,
  platform: Platform,
  job: RunningClaim,
  input: DatasetRefreshInput,
  newFile?: NewFile,
): Promise<LoadJob> {
  const query: Query = (statement) => platform.database.query(job.tenantId, statement);
  const [dataset] = await query<{ fields: Field[]; flow: FlowStep[]; isLoaded: boolean; records: number }>({
    text: `select fields, flow, records, generation_id is not null as "isLoaded"
      from dws.dataset
      where tenant_id = $1 and id = $2`,
    values: [job.tenantId, input.datasetId],
  });
  if (!dataset) throw notFound({ what: 'dataset', id: input.datasetId });
  const datasource = await loadSource({ query }, job.tenantId, input.datasourceId);
  if (!datasource) throw notFound({ what: 'datasource', id: input.datasourceId });
  const source = newFile
    ? { ...datasource, type: newFile.type, config: newFile.config, fileId: newFile.id }
    : datasource;
  const { MAX_DATASET_ROWS: maxRows, REFRESH_TIMEOUT_MS: timeout } = platform.config;
  return {
    ...options,
    // Null where Postgres does not report it. Then a datasource may be the service's own database.
    ownDatabase: await readOwnDatabase(platform.system).catch(() => null),
    generationId: newId(),
    source: { type: source.type, ...(await openSource(platform, job.tenantId, source)) },
    query: { text: input.query, parameters: input.parameters, timeout },
    lastRows: dataset.isLoaded && keepsRowCount(dataset.flow) ? dataset.records : null,
    plan: {
      flow: dataset.flow,
      maxRows,
      disableRefreshInterval: input.disableRefreshInterval,
      ...(dataset.isLoaded && !input.syncFields && { keepFields: dataset.fields }),
      ...(dataset.isLoaded && !input.updateTypeMapping && { keepTypes: dataset.fields }),
    },
  };
}

/** Records the failure of a refresh. The dataset keeps its rows, but a dataset that was being uploaded is deleted. */
async function recordFailure(claim: RefreshClaim, failure: OperationFailure, tx: Transaction): Promise<void> {
  await refreshEnd.cancelled(tx, claim);
  const at = new Date();
  const duration = at.getTime() - claim.startedAt.getTime();
  const last: LastRefresh = { at: at.toISOString(), success: false, duration, error: failure.message };
  await tx.query({
    text: `update dws.dataset set last_refresh = $3 where tenant_id = $1 and id = $2`,
    values: [claim.tenantId, claim.resourceId, JSON.stringify(last)],
  });
  await recordRefreshActivity(tx, claim, 'refresh.failed', { code: failure.code, duration });
}
