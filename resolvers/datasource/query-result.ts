import { Field, Int, ObjectType } from 'type-graphql';
import { DatasetField } from '../../entities/dataset-field.ts';
import type { QueryResult } from '../../src/core/row-source.ts';
import { JsonObject } from '../../src/core/scalars.ts';

@ObjectType('QueryResult', { description: 'First rows of a query’s result.' })
export class QueryResultType implements QueryResult {
  @Field(() => [DatasetField], { description: 'Fields of the rows.' })
  fields!: DatasetField[];

  @Field(() => [JsonObject], { description: 'Rows as objects, by field name.' })
  rows!: Record<string, unknown>[];

  @Field(() => Boolean, { description: 'Whether the result has more rows than were returned.' })
  truncated!: boolean;

  @Field(() => Int, { description: 'Execution time in milliseconds.' })
  duration!: number;
}
