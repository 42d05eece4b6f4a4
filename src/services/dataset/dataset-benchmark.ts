import type { Dataset } from '../../../entities/dataset.ts';
import type { Context } from '../../core/context.ts';
import { refused } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import type { BenchmarkConfig, DatasetBenchmarkInput } from '../../core/operations.ts';
import { bindParameters } from '../../core/parameters.ts';
import type { Transaction } from '../../core/platform.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { load } from '../resource/load-resource.ts';
import { DATASET } from '../resource/owned-kinds.ts';
import { runnableQuery } from './dataset-query.ts';

/** The same as callers say it: what is absent or null takes its default. */
export type BenchmarkConfigInput = { [Key in keyof BenchmarkConfig]?: BenchmarkConfig[Key] | null };

export interface BenchmarkOptions {
  progress?: string | number | null;
  /** Overrides of the parameters' defaults. */
  params?: Record<string, unknown> | null;
  config?: BenchmarkConfigInput | null;
}

/** Times a dataset's query, on its owner's right to the datasource; stored rows stay. Answers the operation, finished when `wait` says so. */
export async function benchmark(
  ctx: Context,
  id: string,
  options: BenchmarkOptions,
  wait: boolean,
): Promise<OperationRecord> {
  return startInTransaction(ctx, wait, async (tx) =>
    begin(ctx, tx, await load(ctx, tx, DATASET, id, 'dataset:refresh'), options, true),
  );
}

/** The same for the service itself: superusers and workers only, whatever the owner may read. */
export async function benchmarkInternal(
  ctx: Context,
  id: string,
  options: BenchmarkOptions,
  wait: boolean,
): Promise<OperationRecord> {
  return startInTransaction(ctx, wait, async (tx) => {
    const dataset = await load(ctx, tx, DATASET, id, 'dataset:refresh');
    if (!ctx.viewer.superuser) throw refused('Only superusers and workers benchmark a dataset this way');
    return begin(ctx, tx, dataset, options, false);
  });
}

/** Checks all that can be checked before, and starts the benchmark. It has no concurrency key: it changes nothing, so it neither waits for refreshes nor keeps them waiting. */
async function begin(
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

/** The config with its defaults. Rows that are loaded are transferred too. */
function effectiveConfig({
  iterations,
  warmup,
  includeDataTransfer,
  includeIndexing,
}: BenchmarkConfigInput): BenchmarkConfig {
  return {
    iterations: within('iterations', iterations ?? 5, 1, 100),
    warmup: within('warmup', warmup ?? 1, 0, 20),
    includeDataTransfer: Boolean(includeDataTransfer) || Boolean(includeIndexing),
    includeIndexing: Boolean(includeIndexing),
  };
}

function within(name: keyof BenchmarkConfig, value: number, least: number, most: number): number {
  if (!Number.isInteger(value) || value < least || value > most)
    throw invalid(`config.${name}`, `must be a whole number from ${least} to ${most}`);
  return value;
}
