import { upstreamFailed } from '../core/errors.ts';
import { newId } from '../core/id.ts';
import type { Platform } from '../core/platform.ts';
import { benchmarkStatistics, type BenchmarkRun, type BenchmarkStatistics } from '../core/statistics.ts';
import type { BenchmarkConfig, DatasetBenchmarkInput } from '../services/dataset/dataset-benchmark.ts';
import { countRows } from '../services/dataset/dataset-run.ts';
import { driverOf } from '../services/datasource/datasource-config.ts';
import { toRunError } from '../services/datasource/datasource-connection.ts';
import { prepareLoad } from './dataset-refresh.ts';
import type { Handler, Job } from './handler.ts';
import type { LoaderPlace, LoadJob } from './load-job.ts';
import { startLoad } from './load-process.ts';

/** Answer of a benchmark (specification, "Dataset run, refresh, benchmark"). `config` is the effective one. */
export interface DatasetBenchmarkResult extends Pick<BenchmarkConfig, 'iterations' | 'warmup'> {
  results: BenchmarkRun[];
  statistics: BenchmarkStatistics;
  config: BenchmarkConfig;
}

type Measured = Omit<BenchmarkRun, 'iteration'>;

/** Runs a dataset's query again and again and says how long it takes, connecting included. Stored rows stay as they are; `REFRESH_TIMEOUT_MS` bounds all runs together. */
export const datasetBenchmark = (place: LoaderPlace): Handler => ({
  takeover: false,
  async run(job, platform) {
    const { config, ...asked } = job.input as unknown as DatasetBenchmarkInput;
    const late = new AbortController();
    const { REFRESH_TIMEOUT_MS: longest } = platform.config;
    const timer = setTimeout(() => late.abort(upstreamFailed(`query timeout after ${longest} ms`)), longest);
    const signal = AbortSignal.any([job.signal, late.signal]);
    try {
      const load = await prepareLoad(place, platform, job, {
        ...asked,
        syncFields: true,
        updateTypeMapping: true,
        disableRefreshInterval: true,
      });
      const results = await repeat(job, config, () =>
        config.includeIndexing ? indexed(platform, load, signal) : asSource(platform, load, config, signal),
      );
      const result: DatasetBenchmarkResult = {
        iterations: config.iterations,
        warmup: config.warmup,
        results,
        statistics: benchmarkStatistics(results),
        config,
      };
      return { publish: async () => result };
    } catch (error) {
      throw signal.aborted ? signal.reason : toRunError(error);
    } finally {
      clearTimeout(timer);
    }
  },
});

/** Runs one after the other, each told as progress. Those that warm up are not among the results. */
async function repeat(
  job: Job,
  { iterations, warmup }: BenchmarkConfig,
  once: () => Promise<Measured>,
): Promise<BenchmarkRun[]> {
  const total = warmup + iterations;
  const results: BenchmarkRun[] = [];
  job.progress({ current: 0, total });
  for (let done = 1; done <= total; done++) {
    const measured = await once();
    if (done > warmup) results.push({ iteration: done - warmup, ...measured });
    job.progress({ current: done, total });
  }
  return results;
}

/** One run of the query, whose rows the source counts itself, or which are read as a refresh reads them and dropped. */
async function asSource(
  platform: Platform,
  { source, query }: LoadJob,
  { includeDataTransfer }: BenchmarkConfig,
  signal: AbortSignal,
): Promise<Measured> {
  const began = performance.now();
  const connection = driverOf(platform, source.type).connect(source.config, source.secrets, source.file);
  try {
    const records = includeDataTransfer
      ? await countRows(connection, query, signal, () => {})
      : await connection.count(query, signal);
    return { duration: since(began), records };
  } finally {
    await connection.close();
  }
}

/** One load into a generation that nobody ever reads, of as many records as the dataset's flow leaves. Dropping it is not measured. */
async function indexed(platform: Platform, load: LoadJob, signal: AbortSignal): Promise<Measured> {
  const began = performance.now();
  const generationId = newId();
  const loading = startLoad({ ...load, generationId }, signal, () => {});
  try {
    const { records } = await loading.generation;
    return { duration: since(began), records };
  } finally {
    await loading.release();
    // What stays is nobody's, so the janitor drops it.
    await platform.index
      .drop(generationId)
      .catch((error: unknown) =>
        platform.log.warn(
          { err: error, generation: generationId },
          'The generation of a benchmark could not be dropped',
        ),
      );
  }
}

/** Milliseconds, with at most three decimals. */
const since = (began: number): number => Math.round((performance.now() - began) * 1000) / 1000;
