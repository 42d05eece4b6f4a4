import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { UuidField } from '../src/core/uuid-field.ts';
import { WholeNumber } from '../src/core/whole-number.ts';

@ObjectType({ description: 'Result of a refresh.' })
export class DatasetRefresh {
  /** Id of the dataset. A result is not an object of its own, so it has no `id` in GraphQL. */
  @UuidField()
  @Field(() => ID, { name: 'datasetId', description: 'Id of the dataset.' })
  id!: string;

  @Field(() => Float, { description: 'Number of rows after the refresh.' })
  records!: number;

  @Field(() => Float, { description: 'Number of rows before the refresh.' })
  previousRecordCount!: number;

  @WholeNumber()
  @Field(() => Float, { description: 'Duration in milliseconds.' })
  duration!: number;

  @Field(() => Int, { description: 'Number of new fields.' })
  fieldsAdded!: number;

  @Field(() => Int, { description: 'Number of fields whose type changed.' })
  fieldsUpdated!: number;

  @Field(() => Int, { description: 'Number of fields that the query no longer has.' })
  fieldsRemoved!: number;

  @Field(() => DateTime, { description: 'Time when the rows were replaced.' })
  dataUpdatedAt!: string;

  @Field(() => Boolean, { description: 'Always true: a failed refresh is an error.' })
  success!: true;
}
