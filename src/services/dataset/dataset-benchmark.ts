import {
  ITERATIONS_RULE,
  WARMUP_RULE,
  type DatasetBenchmarkConfigInput,
} from '../../../entities/dataset-benchmark-input.ts';
import type { Dataset } from '../../../entities/dataset.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { refused } from '../../core/errors.ts';
import type { BenchmarkConfig, DatasetBenchmarkInput } from '../../core/operations.ts';
import { bindParameters } from '../../core/parameters.ts';
import type { Transaction } from '../../core/platform.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { loadResource } from '../resource/load-resource.ts';
import { runnableQuery } from './dataset-refresh.ts';

interface BenchmarkOptions {
  progress?: string | number | null;
  /** Overrides of the parameters' defaults. */
  params?: Record<string, unknown> | null;
  config?: DatasetBenchmarkConfigInput | null;
}

/**
 * Measures how long a dataset's query takes, with the access of its owner to the datasource. Stored rows do not change.
 * Returns the operation; with `wait` after it ended.
 */
export async function benchmark(
  ctx: Context,
  id: string,
  options: BenchmarkOptions,
  wait: boolean,
): Promise<OperationRecord> {
  return startInTransaction(ctx, wait, async (tx) =>
    startBenchmark(ctx, tx, await loadResource(ctx, tx, DATASET, id, 'dataset:refresh'), options, true),
  );
}

/**
 * Benchmarks a dataset without checking its owner's access to the datasource. Throws FORBIDDEN for other callers than
 * superusers.
 */
export async function benchmarkInternal(
  ctx: Context,
  id: string,
  options: BenchmarkOptions,
  wait: boolean,
): Promise<OperationRecord> {
  return startInTransaction(ctx, wait, async (tx) => {
    const dataset = await loadResource(ctx, tx, DATASET, id, 'dataset:refresh');
    if (!ctx.viewer.superuser) throw refused('Only superusers and workers can benchmark a dataset this way');
    return startBenchmark(ctx, tx, dataset, options, false);
  });
}

/**
 * Checks the request and starts the benchmark. It has no concurrency key, because it changes nothing: it runs
 * concurrently with refreshes of the dataset.
 */
async function startBenchmark(
  ctx: Context,
  tx: Transaction,
  dataset: Dataset,
  { progress, params, config }: BenchmarkOptions,
  checkOwner: boolean,
): Promise<string> {
  const {
    datasourceId,
    query,
    params: definitions,
  } = await runnableQuery(tx, ctx.viewer.tenantId, dataset, checkOwner);
  const input: DatasetBenchmarkInput = {
    datasetId: dataset.id,
    datasourceId,
    query,
    parameters: bindParameters(definitions, params ?? {}),
    config: effectiveConfig(config ?? {}),
  };
  return operations.start(ctx, tx, {
    operation: 'dataset.benchmark',
    resource: { kind: 'dataset', id: dataset.id },
    input,
    progress: progress ?? null,
    unit: 'runs',
  });
}

/** Returns the config with its defaults. `includeIndexing` implies `includeDataTransfer`. */
function effectiveConfig({
  iterations,
  warmup,
  includeDataTransfer,
  includeIndexing,
}: DatasetBenchmarkConfigInput): BenchmarkConfig {
  return {
    iterations: iterations ?? ITERATIONS_RULE.default!,
    warmup: warmup ?? WARMUP_RULE.default!,
    includeDataTransfer: Boolean(includeDataTransfer) || Boolean(includeIndexing),
    includeIndexing: Boolean(includeIndexing),
  };
}
