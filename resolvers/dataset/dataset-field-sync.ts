import { Ctx, Field, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import { DatasetField } from '../../entities/dataset-field.ts';
import type { Context } from '../../src/core/context.ts';
import { syncFields } from '../../src/services/dataset/dataset-field-sync.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

/** The result of a synchronization of fields. */
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

@Resolver()
export class DatasetFieldSyncResolver {
  @Can('dataset:write')
  @Mutation(() => FieldSync, {
    description:
      'Updates a dataset’s fields to the current columns of its query. Rows do not change until the next refresh.',
  })
  syncDatasetFields(@Ctx() ctx: Context, @Key('dataset') id: string) {
    return syncFields(ctx, id);
  }
}
