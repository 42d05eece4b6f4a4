import { Field, Float, Int, ObjectType } from 'type-graphql';
import type { ParameterValue } from '../src/core/parameters.ts';
import { JsonObject } from '../src/core/scalars.ts';

@ObjectType({ description: 'Result of a run of a dataset’s query. Nothing is stored.' })
export class DatasetRun {
  @Field(() => Float, { description: 'Number of rows that the query returned.' })
  records!: number;

  @Field(() => Int, { description: 'Duration in milliseconds.' })
  duration!: number;

  @Field(() => Boolean, { description: 'Always true: a failed run is an error.' })
  success!: true;

  @Field(() => JsonObject, { description: 'Parameter values of the run by name, defaults included.' })
  params!: Record<string, ParameterValue>;
}
