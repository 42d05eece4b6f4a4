import { Args, ArgsType, Ctx, Field, Mutation, ObjectType, Resolver } from 'type-graphql';
import { DatasetBenchmarkConfigInput } from '../../entities/dataset-benchmark-input.ts';
import { DatasetBenchmark } from '../../entities/dataset-benchmark.ts';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as benchmarks from '../../src/services/dataset/dataset-benchmark.ts';
import { OperationArgs, toPayload } from '../operation/operation-arguments.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@ObjectType({ description: 'A benchmark: its operation and, if the call waited, its result.' })
class DatasetBenchmarkPayload {
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
    return toPayload(await benchmarks.benchmark(ctx, id, { ...options, progress }, wait));
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
    return toPayload(await benchmarks.benchmarkInternal(ctx, id, { ...options, progress }, wait));
  }
}
