import type { LastRefresh } from '../../entities/dataset.ts';
import { DATABASE_IDENTITY_SQL, type DatabaseIdentity } from '../adapters/drivers/source-guard.ts';
import type { Config } from '../core/config.ts';
import type { Query } from '../core/database.ts';
import type { Generation } from '../core/dataset-index.ts';
import { notFound, upstreamFailed } from '../core/errors.ts';
import type { Field } from '../core/fields.ts';
import type { FlowStep } from '../core/flow/flow.ts';
import { newId } from '../core/id.ts';
import type { OperationFailure } from '../core/operations.ts';
import type { Platform, Transaction } from '../core/platform.ts';
import type { BoundQuery } from '../core/row-source.ts';
import { discardUpload } from '../services/dataset/dataset-upload-cleanup.ts';
import { sourceFilePath, loadSource, toRunError } from '../services/datasource/datasource-connection.ts';
import type { Claim } from '../services/operation/operation-repository.ts';
import { recordRefreshActivity } from '../services/resource/activity.ts';
import { publishGeneration, type DatasetRefreshResult } from './dataset-publish.ts';
import type { Handler, Job } from './handler.ts';
import type { LoaderPlace, LoadJob } from './load-job.ts';
import { startLoad, type LoadProcess } from './load-process.ts';

/** Input of `dataset.refresh`: the effective query and flags, as they were when it was asked for. */
export interface DatasetRefreshInput {
  datasetId: string;
  datasourceId: string;
  /** Text with `{{name}}` placeholders. */
  query: string;
  parameters: BoundQuery['parameters'];
  syncFields: boolean;
  updateTypeMapping: boolean;
  /** See `LoadPlan`. */
  disableRefreshInterval: boolean;
  /** The dataset is an upload's: nothing of it stays when its rows cannot be loaded. */
  upload?: boolean;
}

/** Replaces a dataset's rows by those of its query. Readers see the old ones until the new are complete. */
export const datasetRefresh = (place: LoaderPlace): Handler => ({
  takeover: true,
  async run(job, platform) {
    const input = job.input as unknown as DatasetRefreshInput;
    const { generation, load } = await loadRows(place, platform, job, input);
    let published: Generation | undefined;
    return {
      async publish(tx) {
        const result = await publishRefresh(tx, job, generation, platform.config);
        published = generation;
        return result;
      },
      release: () => load.release(published),
    };
  },
  failed: noteFailure,
  cancelled: discardUploaded,
});

/** Loads the rows of a query into a generation that nobody sees yet. Who asks for it releases the load, whatever becomes of the generation. */
export async function loadRows(
  place: LoaderPlace,
  platform: Platform,
  job: Job,
  input: DatasetRefreshInput,
): Promise<{ generation: Generation; load: LoadProcess }> {
  const loadJob = await prepareLoad(place, platform, job, input);
  const late = new AbortController();
  const { REFRESH_TIMEOUT_MS: longest } = platform.config;
  const timer = setTimeout(() => late.abort(upstreamFailed(`query timeout after ${longest} ms`)), longest);
  const load = startLoad(loadJob, AbortSignal.any([job.signal, late.signal]), (rows) =>
    job.progress({ current: rows }),
  );
  try {
    const generation = await load.generation;
    job.progress({
      current: generation.records,
      ...(generation.warnings.length > 0 && { message: generation.warnings.join('; ') }),
    });
    return { generation, load };
  } catch (error) {
    await load.release();
    throw input.upload ? error : toRunError(error);
  } finally {
    clearTimeout(timer);
  }
}

/** Publishes a generation as what a refresh came to, and says so where people look for it. */
export async function publishRefresh(
  tx: Transaction,
  claim: Claim,
  generation: Generation,
  { TENANT_QUOTA_BYTES: quota }: Config,
): Promise<DatasetRefreshResult> {
  const result = await publishGeneration(tx, claim, claim.resourceId, generation, quota);
  await recordRefreshActivity(tx, claim, 'refreshed', { records: result.records, duration: result.duration });
  return result;
}

/** Gathers what the loader needs. The dataset's fields matter only once it has some. */
export async function prepareLoad(
  place: LoaderPlace,
  platform: Platform,
  job: Job,
  input: DatasetRefreshInput,
): Promise<LoadJob> {
  const [dataset] = await platform.database.query<{ fields: Field[]; flow: FlowStep[]; loaded: boolean }>(
    job.tenantId,
    {
      text: `select fields, flow, generation_id is not null as loaded from dws.dataset where tenant_id = $1 and id = $2`,
      values: [job.tenantId, input.datasetId],
    },
  );
  if (!dataset) throw notFound({ what: 'dataset', id: input.datasetId });
  const query: Query = (statement) => platform.database.query(job.tenantId, statement);
  const datasource = await loadSource({ query }, job.tenantId, input.datasourceId);
  if (!datasource) throw notFound({ what: 'datasource', id: input.datasourceId });
  const secrets = datasource.secrets
    ? (JSON.parse(platform.secrets.open(datasource.secrets)) as Record<string, string>)
    : {};
  const { MAX_DATASET_ROWS: maxRows, REFRESH_TIMEOUT_MS: timeout } = platform.config;
  return {
    ...place,
    ownDatabase: await ownDatabase(platform),
    generationId: newId(),
    source: { type: datasource.type, config: datasource.config, secrets, file: sourceFilePath(platform, datasource) },
    query: { text: input.query, parameters: input.parameters, timeout },
    plan: {
      flow: dataset.flow,
      maxRows,
      disableRefreshInterval: input.disableRefreshInterval,
      ...(dataset.loaded && !input.syncFields && { keepFields: dataset.fields }),
      ...(dataset.loaded && !input.updateTypeMapping && { keepTypes: dataset.fields }),
    },
  };
}

/** The service's own database, which no datasource may be; null where it cannot be told. */
async function ownDatabase(platform: Platform): Promise<DatabaseIdentity | null> {
  const [own] = await platform.system
    .query<DatabaseIdentity & Record<string, unknown>>({ text: DATABASE_IDENTITY_SQL })
    .catch(() => []);
  return own ?? null;
}

/** A failed refresh leaves everything as it was, and says why; a failed upload leaves nothing. */
async function noteFailure(claim: Claim, failure: OperationFailure, tx: Transaction): Promise<void> {
  await discardUploaded(claim, tx);
  const at = new Date();
  const last: LastRefresh = {
    at: at.toISOString(),
    success: false,
    duration: at.getTime() - claim.startedAt.getTime(),
    error: failure.message,
  };
  await tx.query({
    text: `update dws.dataset set last_refresh = $3 where tenant_id = $1 and id = $2`,
    values: [claim.tenantId, claim.resourceId, JSON.stringify(last)],
  });
  await recordRefreshActivity(tx, claim, 'refresh.failed', { code: failure.code, duration: last.duration! });
}

const discardUploaded = async ({ tenantId, resourceId, input }: Claim, tx: Transaction): Promise<void> => {
  if (input['upload']) await discardUpload(tx, tenantId, resourceId);
};
