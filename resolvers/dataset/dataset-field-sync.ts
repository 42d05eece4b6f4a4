import { Ctx, Mutation, Resolver } from 'type-graphql';
import { FieldSync } from '../../entities/dataset-field-sync.ts';
import type { Context } from '../../src/core/context.ts';
import { syncFields } from '../../src/services/dataset/dataset-field-sync.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

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
