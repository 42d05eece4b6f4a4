import { Field, Float, Int, ObjectType } from 'type-graphql';
import type { BenchmarkConfig } from '../src/core/operations.ts';

@ObjectType({ description: 'A measured run of a benchmark.' })
export class DatasetBenchmarkRun {
  @Field(() => Int, { description: 'Number of the run, from 1; warm-up runs are not counted.' })
  iteration!: number;

  @Field(() => Float, { description: 'Duration in milliseconds, including the connection to the datasource.' })
  duration!: number;

  @Field(() => Float, {
    description: 'Number of rows that the query returned or, with `includeIndexing`, that remain after the flow.',
  })
  records!: number;
}

@ObjectType({ description: 'Statistics over the measured runs of a benchmark. Durations are in milliseconds.' })
export class DatasetBenchmarkStatistics {
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

@ObjectType({ description: 'Options of a benchmark, with defaults filled in.' })
class DatasetBenchmarkConfig implements BenchmarkConfig {
  @Field(() => Int, { description: 'Number of measured runs.' })
  iterations!: number;

  @Field(() => Int, { description: 'Number of warm-up runs, which are not in the results.' })
  warmup!: number;

  @Field(() => Boolean, { description: 'Whether the rows were read. If false, the datasource counted them.' })
  includeDataTransfer!: boolean;

  @Field(() => Boolean, { description: 'Whether the rows were loaded into a temporary index.' })
  includeIndexing!: boolean;
}

@ObjectType({ description: 'Result of a benchmark.' })
export class DatasetBenchmark {
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
