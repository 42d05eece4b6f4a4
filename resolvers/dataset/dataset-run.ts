import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { DatasetRun } from '../../entities/dataset-run.ts';
import type { Context } from '../../src/core/context.ts';
import { PROGRESS_RULE, Rule } from '../../src/core/input-rules.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { run } from '../../src/services/dataset/dataset-run.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@Resolver()
export class DatasetRunResolver {
  @Can('dataset:write')
  @Mutation(() => DatasetRun, {
    description:
      'Runs a dataset’s query at its datasource, with the access of the dataset’s owner, and counts the rows. ' +
      'Stored rows are not changed.',
  })
  runDataset(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Arg('params', () => JsonObject, {
      nullable: true,
      description: 'Parameter values by name; absent ones have their default.',
    })
    params?: Record<string, unknown> | null,
    @Arg('progress', () => String, {
      nullable: true,
      description: 'Name chosen by the client, with which it can follow and cancel the run.',
    })
    @Rule(PROGRESS_RULE)
    progress?: string | null,
  ) {
    return run(ctx, id, params, progress);
  }
}
