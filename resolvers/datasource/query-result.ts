import { Field, Int, ObjectType } from 'type-graphql';
import { DatasetField } from '../../entities/dataset-field.ts';
import type { QueryResult as QueryResultShape } from '../../src/core/row-source.ts';
import { JsonObject } from '../../src/core/scalars.ts';

/** The first rows that a query answers with. */
@ObjectType({ description: 'The first rows that a query answers with.' })
export class QueryResult implements QueryResultShape {
  @Field(() => [DatasetField], { description: 'The fields of the rows.' })
  fields!: DatasetField[];

  @Field(() => [JsonObject], { description: 'The rows, by field name.' })
  rows!: Record<string, unknown>[];

  @Field(() => Boolean, { description: 'Whether there are more rows than asked for.' })
  truncated!: boolean;

  @Field(() => Int, { description: 'Milliseconds that the source took.' })
  duration!: number;
}
