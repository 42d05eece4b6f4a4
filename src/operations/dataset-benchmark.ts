import type { DatasetBenchmark, DatasetBenchmarkRun } from '../../entities/dataset-benchmark.ts';
import { newId } from '../core/id.ts';
import type { BenchmarkConfig } from '../core/operations.ts';
import type { Platform } from '../core/platform.ts';
import { benchmarkStatistics } from '../services/dataset/dataset-benchmark-statistics.ts';
import { countRows } from '../services/dataset/dataset-run.ts';
import { driverOf } from '../services/datasource/datasource-config.ts';
import { toRunError } from '../services/datasource/datasource-connection.ts';
import { whileStorageAllows } from '../services/resource/storage-limit.ts';
import { prepareLoad, runningLoad } from './dataset-refresh.ts';
import type { Handler, RunningClaim } from './handler.ts';
import type { LoaderOptions, LoadJob } from './load-job.ts';
import { startLoad } from './load-process.ts';
import { withQueryTimeout } from './query-timeout.ts';

type Measurement = Omit<DatasetBenchmarkRun, 'iteration'>;

/**
 * Runs a dataset's query several times and measures the durations, connecting included. Stored rows do not change.
 * `REFRESH_TIMEOUT_MS` limits all runs together.
 */
export const datasetBenchmark = (options: LoaderOptions): Handler<'dataset.benchmark'> => ({
  takeover: false,
  async run(job, platform) {
    const { config, ...queryInput } = job.input;
    const results = await withQueryTimeout(platform, job, async (signal) => {
      try {
        const load = await prepareLoad(options, platform, job, {
          ...queryInput,
          syncFields: true,
          updateTypeMapping: true,
          disableRefreshInterval: true,
        });
        return await repeat(job, config, () =>
          config.includeIndexing
            ? measureLoad(platform, job, load, signal)
            : measureSource(platform, load, config, signal),
        );
      } catch (error) {
        throw signal.aborted ? signal.reason : toRunError(error);
      }
    });
    const result: DatasetBenchmark = {
      iterations: config.iterations,
      warmup: config.warmup,
      results,
      statistics: benchmarkStatistics(results),
      config,
    };
    return { publish: async () => result };
  },
});

/** Measures one run after the other and reports each as progress. Warm-up runs are not among the results. */
async function repeat(
  job: RunningClaim,
  { iterations, warmup }: BenchmarkConfig,
  measure: () => Promise<Measurement>,
): Promise<DatasetBenchmarkRun[]> {
  const total = warmup + iterations;
  const results: DatasetBenchmarkRun[] = [];
  job.progress({ current: 0, total });
  for (let current = 1; current <= total; current++) {
    const measurement = await measure();
    if (current > warmup) results.push({ iteration: current - warmup, ...measurement });
    job.progress({ current, total });
  }
  return results;
}

/** Measures the query at its source. The source counts the rows, or the service reads and drops them. */
async function measureSource(
  platform: Platform,
  { source, query }: LoadJob,
  { includeDataTransfer }: BenchmarkConfig,
  signal: AbortSignal,
): Promise<Measurement> {
  const start = performance.now();
  const connection = driverOf(platform, source.type).connect(source.config, source.secrets, source.file);
  try {
    const records = includeDataTransfer
      ? await countRows(connection, query, signal)
      : await connection.count(query, signal);
    return { duration: millisecondsSince(start), records };
  } finally {
    await connection.close();
  }
}

/** Measures a load into a temporary generation. Records are those that the dataset's flow leaves. */
function measureLoad(
  platform: Platform,
  job: RunningClaim,
  former: LoadJob,
  signal: AbortSignal,
): Promise<Measurement> {
  const generationId = newId();
  const load = { ...former, generationId };
  return whileStorageAllows(platform, runningLoad(job.tenantId, job.resourceId, load), signal, async (ending) => {
    const start = performance.now();
    const loading = startLoad(platform, load, ending, () => {});
    try {
      const { records } = await loading.generation;
      return { duration: millisecondsSince(start), records };
    } finally {
      await loading.release();
      // A generation that cannot be dropped here has no row, so the janitor drops it later.
      await platform.index
        .drop(generationId)
        .catch((error: unknown) =>
          platform.log.warn({ err: error, generation: generationId }, 'Could not drop the generation of a benchmark'),
        );
    }
  });
}

/** Returns milliseconds with at most three decimals. */
const millisecondsSince = (start: number): number => Math.round((performance.now() - start) * 1000) / 1000;
