import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Field, FieldResolver, ID, Info, InputType, Mutation, Resolver, Root } from 'type-graphql';
import { FieldLabelInput } from '../../entities/dataset-input.ts';
import { Dataset } from '../../entities/dataset.ts';
import { QueryParameter } from '../../entities/query-parameter.ts';
import type { Context } from '../../src/core/context.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as drafts from '../../src/services/dataset/draft.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

/** What a new draft has otherwise than its dataset. */
@InputType({
  description: 'What a new draft has otherwise than its dataset. Absent keys are as the dataset has them, null clears.',
})
export class UpdateDatasetDraftInput implements drafts.DraftInput {
  @Field(() => String, { nullable: true, description: 'Display name.' })
  name?: string;

  @Field(() => String, { nullable: true, description: 'What it is for.' })
  description?: string | null;

  @Field(() => ID, { nullable: true, description: 'The saved query to follow; null for a query of its own.' })
  queryId?: string | null;

  @Field(() => ID, { nullable: true, description: 'The datasource of its own query.' })
  datasourceId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Its own query: one statement; `{{name}}` stands for the value of a parameter.',
  })
  query?: string | null;

  @Field(() => [QueryParameter], {
    nullable: true,
    description:
      'Parameters of its own query; beside `queryId`, those that stand in for the saved query’s of the same name.',
  })
  params?: QueryParameter[];

  @Field(() => [JsonObject], {
    nullable: true,
    description:
      'Steps that its rows pass when they are loaded: `filter`, `sort`, `limit`, `rename`, `remove`, `calculate`.',
  })
  flow?: Record<string, unknown>[];

  @Field(() => JsonObject, { nullable: true, description: 'Settings of its front-ends.' })
  settings?: Record<string, unknown>;

  @Field(() => [FieldLabelInput], {
    nullable: true,
    description: 'Labels and descriptions of fields; those that are not named are the dataset’s.',
  })
  fields?: FieldLabelInput[];
}

@Resolver(() => Dataset)
export class DatasetDraftResolver {
  @Can('dataset:write')
  @Mutation(() => Dataset, {
    description:
      'The caller’s draft of a dataset: the one they have, or a new one of what the dataset is now, its rows included. A draft is a dataset that only its owner reads.',
  })
  async editDataset(@Ctx() ctx: Context, @Key('dataset') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.readAfterWrite(Dataset, await drafts.edit(ctx, id), info);
  }

  @Can('dataset:write')
  @Mutation(() => Dataset, {
    description:
      'Makes the caller’s draft of a dataset anew: of what the dataset is now, with these changes. A draft that they have is deleted first.',
  })
  async updateDatasetDraft(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Arg('input', { description: 'What the draft has otherwise.' }) input: UpdateDatasetDraftInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Dataset, await drafts.replace(ctx, id, input), info);
  }

  @Can('dataset:read')
  @Mutation(() => ID, { description: 'Deletes the caller’s draft of a dataset; answers the dataset’s id as given.' })
  async deleteDatasetDraft(@Ctx() ctx: Context, @Key('dataset') id: string) {
    await drafts.remove(ctx, id);
    return id;
  }

  @Can('dataset:write')
  @Mutation(() => Dataset, {
    description:
      'Makes a dataset what the caller’s draft of it is and deletes the draft; answers the dataset. Its rows stay as they are until a refresh.',
  })
  async commitDatasetDraft(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Info() info: GraphQLResolveInfo,
    @Arg('clearAllUserSettings', () => Boolean, {
      defaultValue: true,
      description: 'Whether the settings that users keep for the dataset are forgotten, those of all users.',
    })
    clearAllUserSettings: boolean,
  ) {
    return ctx.read.readAfterWrite(Dataset, await drafts.commit(ctx, id, clearAllUserSettings), info);
  }

  @FieldResolver(() => Dataset, { nullable: true, description: 'The caller’s draft of it; null when they have none.' })
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
      'Of a draft: whether what its dataset is by definition (query, parameters, flow, settings, labels) changed since the draft was made. Refreshes do not count.',
  })
  stale(@Root() { stale }: { stale: boolean }): boolean {
    return stale;
  }
}
