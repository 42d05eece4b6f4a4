import { Args, ArgsType, Ctx, Field, Float, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import { DatasetBenchmarkConfigInput } from '../../entities/dataset-benchmark-input.ts';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import type { BenchmarkConfig } from '../../src/core/operations.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import type { BenchmarkRun, BenchmarkStatistics } from '../../src/core/statistics.ts';
import type { DatasetBenchmarkResult } from '../../src/operations/operation-results.ts';
import * as benchmarks from '../../src/services/dataset/dataset-benchmark.ts';
import { OperationArgs, parseProgress, toPayload } from '../operation/operation-arguments.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

/** A measured run. */
@ObjectType({ description: 'A measured run of a benchmark.' })
export class DatasetBenchmarkRun implements BenchmarkRun {
  @Field(() => Int, { description: 'Number of the run, from 1; warm-up runs are not counted.' })
  iteration!: number;

  @Field(() => Float, { description: 'Duration in milliseconds, including the connection to the datasource.' })
  duration!: number;

  @Field(() => Float, {
    description: 'Number of rows that the query returned or, with `includeIndexing`, that remain after the flow.',
  })
  records!: number;
}

/** Statistics over the measured runs. */
@ObjectType({ description: 'Statistics over the measured runs of a benchmark. Durations are in milliseconds.' })
export class DatasetBenchmarkStatistics implements BenchmarkStatistics {
  @Field(() => Float, { description: 'Shortest duration.' })
  min!: number;

  @Field(() => Float, { description: 'Longest duration.' })
  max!: number;

  @Field(() => Float, { description: 'Mean duration.' })
  avg!: number;

  @Field(() => Float, { description: 'Median duration.' })
  median!: number;

  @Field(() => Float, { description: 'Population standard deviation of the durations.' })
  stdDev!: number;

  @Field(() => Float, { description: 'Number of rows of the last run.' })
  records!: number;

  @Field(() => Float, { description: 'Rows of all runs divided by the seconds of all runs.' })
  avgRecordsPerSecond!: number;
}

/** The options of a benchmark, with defaults filled in. */
@ObjectType({ description: 'Options of a benchmark, with defaults filled in.' })
export class DatasetBenchmarkConfig implements BenchmarkConfig {
  @Field(() => Int, { description: 'Number of measured runs.' })
  iterations!: number;

  @Field(() => Int, { description: 'Number of warm-up runs, which are not in the results.' })
  warmup!: number;

  @Field(() => Boolean, { description: 'Whether the rows were read. If false, the datasource counted them.' })
  includeDataTransfer!: boolean;

  @Field(() => Boolean, { description: 'Whether the rows were loaded into a temporary index.' })
  includeIndexing!: boolean;
}

/** The result of a benchmark. */
@ObjectType({ description: 'Result of a benchmark.' })
export class DatasetBenchmark implements DatasetBenchmarkResult {
  @Field(() => Int, { description: 'Number of measured runs.' })
  iterations!: number;

  @Field(() => Int, { description: 'Number of warm-up runs, which are not in the results.' })
  warmup!: number;

  @Field(() => [DatasetBenchmarkRun], { description: 'Measured runs in order.' })
  results!: DatasetBenchmarkRun[];

  @Field(() => DatasetBenchmarkStatistics, { description: 'Statistics over the measured runs.' })
  statistics!: DatasetBenchmarkStatistics;

  @Field(() => DatasetBenchmarkConfig, { description: 'Options of the benchmark, with defaults filled in.' })
  config!: DatasetBenchmarkConfig;
}

/** A benchmark that was started. */
@ObjectType({ description: 'A benchmark: its operation and, if the call waited, its result.' })
export class DatasetBenchmarkPayload {
  @Field(() => Operation, { description: 'Status and progress.' })
  operation!: Operation;

  @Field(() => DatasetBenchmark, { nullable: true, description: 'Result; null if the call did not wait.' })
  result!: DatasetBenchmark | null;
}

@ArgsType()
class BenchmarkArgs extends OperationArgs {
  @Field(() => JsonObject, { nullable: true, description: 'Parameter values by name; absent ones have their default.' })
  params?: Record<string, unknown>;

  @Field(() => DatasetBenchmarkConfigInput, { nullable: true, description: 'Options; absent ones have their default.' })
  config?: DatasetBenchmarkConfigInput;
}

@Resolver()
export class DatasetBenchmarkResolver {
  @Can('dataset:refresh')
  @Mutation(() => DatasetBenchmarkPayload, {
    description:
      'Measures how long a dataset’s query takes, over several runs with the access of the dataset’s owner to the ' +
      'datasource. Stored rows are not changed.',
  })
  async benchmarkDataset(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Args(() => BenchmarkArgs) { wait, progress, ...options }: BenchmarkArgs,
  ) {
    return toPayload(await benchmarks.benchmark(ctx, id, { ...options, progress: parseProgress(progress) }, wait));
  }

  @Can('dataset:refresh')
  @Mutation(() => DatasetBenchmarkPayload, {
    description:
      'Runs a benchmark without checking the dataset owner’s access to the datasource. Only for superusers and ' +
      'workers.',
  })
  async benchmarkDatasetInternal(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Args(() => BenchmarkArgs) { wait, progress, ...options }: BenchmarkArgs,
  ) {
    return toPayload(
      await benchmarks.benchmarkInternal(ctx, id, { ...options, progress: parseProgress(progress) }, wait),
    );
  }
}
