import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, FieldResolver, ID, Info, Mutation, Resolver, Root } from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import { UpdateDatasetDraftInput } from '../../entities/draft-input.ts';
import type { Context } from '../../src/core/context.ts';
import * as drafts from '../../src/services/dataset/draft.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@Resolver(() => Dataset)
export class DatasetDraftResolver {
  @Can('dataset:write')
  @Mutation(() => Dataset, {
    description:
      'Returns the caller’s draft of a dataset. If there is none, creates it as a copy of the dataset with its rows. ' +
      'A draft is a dataset that only its owner may read.',
  })
  async editDataset(@Ctx() ctx: Context, @Key('dataset') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.readAfterWrite(Dataset, await drafts.edit(ctx, id), info);
  }

  @Can('dataset:write')
  @Mutation(() => Dataset, {
    description:
      'Creates a draft of the caller as a copy of the dataset with these changes. Replaces an existing draft.',
  })
  async updateDatasetDraft(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Arg('input', { description: 'Differences between the draft and its dataset.' }) input: UpdateDatasetDraftInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Dataset, await drafts.replace(ctx, id, input), info);
  }

  @Can('dataset:read')
  @Mutation(() => ID, {
    description: 'Deletes the caller’s draft of a dataset. Returns the `id` argument.',
  })
  async deleteDatasetDraft(@Ctx() ctx: Context, @Key('dataset') id: string) {
    await drafts.remove(ctx, id);
    return id;
  }

  @Can('dataset:write')
  @Mutation(() => Dataset, {
    description:
      'Applies the caller’s draft to its dataset and deletes the draft. Returns the dataset. ' +
      'Its rows do not change until the next refresh.',
  })
  async commitDatasetDraft(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Info() info: GraphQLResolveInfo,
    @Arg('clearAllUserSettings', () => Boolean, {
      defaultValue: true,
      description: 'Whether to delete the settings of all users for the dataset.',
    })
    clearAllUserSettings: boolean,
  ) {
    return ctx.read.readAfterWrite(Dataset, await drafts.commit(ctx, id, clearAllUserSettings), info);
  }

  @FieldResolver(() => Dataset, {
    nullable: true,
    description: 'The caller’s draft of the dataset. Null when there is none.',
  })
  async draft(@Ctx() ctx: Context, @Root() dataset: { id: string }, @Info() info: GraphQLResolveInfo) {
    const [draft] = await ctx.read.children<Dataset>(
      Dataset,
      'drafts',
      dataset,
      info,
      {},
      { ownerId: `user:${ctx.viewer.userId}` },
    );
    return draft ?? null;
  }

  @FieldResolver(() => Boolean, {
    description:
      'Drafts only: whether the definition of the dataset (query, parameters, flow, settings, labels) has changed ' +
      'since the draft was created. Refreshes do not count. False for other datasets.',
  })
  stale(@Root() { stale }: { stale: boolean }): boolean {
    return stale;
  }
}
