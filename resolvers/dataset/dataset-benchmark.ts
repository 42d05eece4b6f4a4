import { Args, ArgsType, Ctx, Field, Float, InputType, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import type { BenchmarkConfig } from '../../src/core/operations.ts';
import { Json, JsonObject } from '../../src/core/scalars.ts';
import type { BenchmarkRun, BenchmarkStatistics } from '../../src/core/statistics.ts';
import type { DatasetBenchmarkResult } from '../../src/operations/operation-results.ts';
import * as benchmarks from '../../src/services/dataset/dataset-benchmark.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { answered, progressName } from './dataset-run.ts';

/** A run that was measured. */
@ObjectType({ description: 'A run of a benchmark that was measured.' })
export class DatasetBenchmarkRun implements BenchmarkRun {
  @Field(() => Int, { description: 'Counts from 1, without the runs to warm up.' }) iteration!: number;
  @Field(() => Float, { description: 'Milliseconds, connecting to the source included.' }) duration!: number;
  @Field(() => Float, {
    description: 'Rows that the query answered with; with `includeIndexing`, those that the flow left.',
  })
  records!: number;
}

/** What the runs come to. */
@ObjectType({ description: 'What the durations of a benchmark’s runs come to, in milliseconds.' })
export class DatasetBenchmarkStatistics implements BenchmarkStatistics {
  @Field(() => Float, { description: 'The shortest.' }) min!: number;
  @Field(() => Float, { description: 'The longest.' }) max!: number;
  @Field(() => Float, { description: 'Their mean.' }) avg!: number;
  @Field(() => Float, { description: 'Their median.' }) median!: number;
  @Field(() => Float, { description: 'Their standard deviation, the population’s.' }) stdDev!: number;
  @Field(() => Float, { description: 'Records of one run, the last.' }) records!: number;
  @Field(() => Float, { description: 'Records of all runs by the seconds of all runs.' }) avgRecordsPerSecond!: number;
}

/** How a benchmark was done. */
@ObjectType({ description: 'How a benchmark was done.' })
export class DatasetBenchmarkConfig implements BenchmarkConfig {
  @Field(() => Int, { description: 'Runs that were measured.' }) iterations!: number;
  @Field(() => Int, { description: 'Runs before them, which are not among the results.' }) warmup!: number;
  @Field(() => Boolean, { description: 'Whether the rows were read; otherwise the source counted them itself.' })
  includeDataTransfer!: boolean;
  @Field(() => Boolean, { description: 'Whether the rows were loaded into an index of their own, which was dropped.' })
  includeIndexing!: boolean;
}

/** Answer of a benchmark. */
@ObjectType({ description: 'What a benchmark came to: stored rows are not changed.' })
export class DatasetBenchmark implements DatasetBenchmarkResult {
  @Field(() => Int, { description: 'Runs that were measured.' }) iterations!: number;
  @Field(() => Int, { description: 'Runs before them, which are not among the results.' }) warmup!: number;
  @Field(() => [DatasetBenchmarkRun], { description: 'The runs in their order.' }) results!: DatasetBenchmarkRun[];
  @Field(() => DatasetBenchmarkStatistics, { description: 'What they come to.' })
  statistics!: DatasetBenchmarkStatistics;
  @Field(() => DatasetBenchmarkConfig, { description: 'The effective config.' }) config!: DatasetBenchmarkConfig;
}

/** A benchmark that was started. */
@ObjectType({ description: 'A benchmark: its operation, and its result when it was waited for.' })
export class DatasetBenchmarkPayload {
  @Field(() => Operation, { description: 'How far it is.' }) operation!: Operation;
  @Field(() => DatasetBenchmark, { nullable: true, description: 'What it came to; null when it was not waited for.' })
  result!: DatasetBenchmark | null;
}

/** How a benchmark is to be done. graphql-jit loses the defaults of an input's fields that are false or 0, so the service fills them in. */
@InputType({ description: 'How a benchmark is to be done.' })
export class DatasetBenchmarkConfigInput implements benchmarks.BenchmarkConfigInput {
  @Field(() => Int, { nullable: true, description: 'Runs that are measured, 1 to 100. Default 5.' })
  iterations?: number | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Runs before them, 0 to 20, which are not among the results. Default 1.',
  })
  warmup?: number | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether the rows are read, as a refresh reads them, and dropped; otherwise the source counts them itself. Default false.',
  })
  includeDataTransfer?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether the rows are read, pass the flow and are loaded into an index of their own, which is dropped. Default false.',
  })
  includeIndexing?: boolean | null;
}

/** What is timed. */
@ArgsType()
export class BenchmarkArgs {
  @Field(() => Json, { nullable: true, description: 'The caller’s own name for the operation, a text or number.' })
  progress?: unknown;

  @Field(() => JsonObject, { nullable: true, description: 'Values of parameters by name, instead of the defaults.' })
  params?: Record<string, unknown>;

  @Field(() => DatasetBenchmarkConfigInput, { nullable: true, description: 'How it is done; the defaults without it.' })
  config?: DatasetBenchmarkConfigInput;

  @Field(() => Boolean, { defaultValue: true, description: 'Whether to answer when it is done.' })
  wait!: boolean;
}

@Resolver()
export class DatasetBenchmarkResolver {
  @Can('dataset:refresh')
  @Mutation(() => DatasetBenchmarkPayload, {
    description: 'Runs a dataset’s query several times and says how long it takes. Stored rows are not changed.',
  })
  async benchmarkDataset(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Args(() => BenchmarkArgs) { wait, progress, ...options }: BenchmarkArgs,
  ) {
    return answered(await benchmarks.benchmark(ctx, id, { ...options, progress: progressName(progress) }, wait));
  }

  @Can('dataset:refresh')
  @Mutation(() => DatasetBenchmarkPayload, {
    description:
      'The same for the service itself, without the owner’s right to the datasource: superusers and workers only.',
  })
  async benchmarkDatasetInternal(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Args(() => BenchmarkArgs) { wait, progress, ...options }: BenchmarkArgs,
  ) {
    return answered(
      await benchmarks.benchmarkInternal(ctx, id, { ...options, progress: progressName(progress) }, wait),
    );
  }
}
