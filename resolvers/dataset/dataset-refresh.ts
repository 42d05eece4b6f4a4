import { Args, ArgsType, Ctx, Field, Mutation, ObjectType, Resolver } from 'type-graphql';
import { DatasetRefresh } from '../../entities/dataset-refresh.ts';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as refreshes from '../../src/services/dataset/dataset-refresh.ts';
import { OperationArgs, toPayload } from '../operation/operation-arguments.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@ObjectType({ description: 'A refresh: its operation and, if the call waited, its result.' })
export class DatasetRefreshPayload {
  @Field(() => Operation, { description: 'Status and progress.' })
  operation!: Operation;

  @Field(() => DatasetRefresh, { nullable: true, description: 'Result; null if the call did not wait.' })
  result!: DatasetRefresh | null;
}

/** The options of a refresh. */
@ArgsType()
export class RefreshArgs extends OperationArgs {
  @Field(() => JsonObject, { nullable: true, description: 'Parameter values by name; absent ones have their default.' })
  params?: Record<string, unknown>;

  @Field(() => Boolean, {
    defaultValue: true,
    description:
      'Whether the fields follow the query. If false, the field list is unchanged: new columns are left out, and a ' +
      'field that the query no longer has is null in every row.',
  })
  syncFields!: boolean;

  @Field(() => Boolean, {
    defaultValue: true,
    description:
      'Whether field types follow the query. If false, types are unchanged, and a value that does not fit its type ' +
      'fails the refresh with an error that names the field and the value.',
  })
  updateTypeMapping!: boolean;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Whether a search engine pauses its own index refresh while the rows are loaded.',
  })
  disableRefreshInterval!: boolean;
}

@Resolver()
export class DatasetRefreshResolver {
  @Can('dataset:refresh')
  @Mutation(() => DatasetRefreshPayload, {
    description:
      'Replaces a dataset’s rows with the rows of its query, which runs with the access of the dataset’s owner to ' +
      'the datasource. Readers see the old rows until all new rows are loaded.',
  })
  async refreshDataset(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Args(() => RefreshArgs) { wait, progress, ...options }: RefreshArgs,
  ) {
    return toPayload(await refreshes.refresh(ctx, id, { ...options, progress }, wait));
  }

  @Can('dataset:refresh')
  @Mutation(() => DatasetRefreshPayload, {
    description:
      'Refreshes a dataset without checking its owner’s access to the datasource. Only for superusers and workers.',
  })
  async refreshDatasetInternal(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Args(() => RefreshArgs) { wait, progress, ...options }: RefreshArgs,
  ) {
    return toPayload(await refreshes.refreshInternal(ctx, id, { ...options, progress }, wait));
  }
}
