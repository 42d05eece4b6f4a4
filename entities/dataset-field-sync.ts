import { Field, Int, ObjectType } from 'type-graphql';
import { DatasetField } from './dataset-field.ts';

@ObjectType({ description: 'Result of a synchronization of a dataset’s fields.' })
export class FieldSync {
  @Field(() => Int, { description: 'Number of new fields.' })
  fieldsAdded!: number;

  @Field(() => Int, { description: 'Number of fields whose type changed.' })
  fieldsUpdated!: number;

  @Field(() => Int, { description: 'Number of fields that the query no longer has.' })
  fieldsRemoved!: number;

  @Field(() => [DatasetField], { description: 'Fields after the synchronization.' })
  fields!: DatasetField[];
}
