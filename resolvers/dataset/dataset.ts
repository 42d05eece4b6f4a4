import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  Float,
  ID,
  Info,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import { Dataset, type LastRefresh } from '../../entities/dataset.ts';
import { QueryParameter } from '../../entities/query-parameter.ts';
import type { Context } from '../../src/core/context.ts';
import { isRestricted, levelAllows } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import { DateTime, JsonObject } from '../../src/core/scalars.ts';
import { formatSize } from '../../src/core/size.ts';
import { search } from '../../src/services/dataset/dataset-data.ts';
import type { QuerySource } from '../../src/services/dataset/dataset-query.ts';
import { set as setShare } from '../../src/services/dataset/dataset-share.ts';
import { updates } from '../../src/services/dataset/dataset-updates.ts';
import { visibleFields, VIEWED, type ViewedDataset } from '../../src/services/dataset/dataset-view.ts';
import * as datasets from '../../src/services/dataset/dataset.ts';
import { accessLevel, resolvePage, type Owned } from '../../src/services/resource/access.ts';
import { accessLevelColumns } from '../../src/services/resource/owned-kind.ts';
import { DATASET } from '../../src/services/resource/owned-kinds.ts';
import { loadEffectiveQuery } from '../datasource/linked-query.ts';
import { inList } from '../resource/in-list.ts';
import { ownedFields } from '../resource/owned.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { OwnedPageArgs, pageOf } from '../support/page.ts';
import { DatasetField } from './dataset-field.ts';
import { CreateDatasetInput, UpdateDatasetInput } from './dataset-input.ts';
import { DatasetShareInput } from './dataset-share.ts';

const DatasetPage = pageOf(Dataset, 'Dataset');

export const DatasetOwnedFields = ownedFields(DATASET, { input: DatasetShareInput, set: setShare });

/** How the last refresh went. */
@ObjectType('LastRefresh', { description: 'How the last refresh of a dataset went.' })
export class LastRefreshType implements LastRefresh {
  @Field(() => DateTime, { description: 'When it ended.' }) at!: string;
  @Field(() => Boolean, { description: 'Whether the rows were replaced.' }) success!: boolean;
  @Field(() => Float, { nullable: true, description: 'Milliseconds.' }) duration!: number | null;
  @Field(() => String, { nullable: true, description: 'Why it failed.' }) error!: string | null;
}

type SourceRow = QuerySource & Owned;
const LEVEL_NEEDS = accessLevelColumns(DATASET);
const SOURCE = ['queryId', 'datasourceId', 'query', 'params', ...LEVEL_NEEDS];
const writes = async (ctx: Context, dataset: Owned) => levelAllows(await accessLevel(ctx, dataset), 'dataset:write');
const seesPart = async (ctx: Context, dataset: Owned) => isRestricted(await accessLevel(ctx, dataset));

@Resolver(() => Dataset)
export class DatasetResolver {
  @Can('authenticated')
  @Query(() => Dataset, { description: 'One dataset, draft or snapshot.' })
  dataset(@Ctx() ctx: Context, @Key('dataset') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Dataset, id, info);
  }

  @Can('authenticated')
  @Query(() => DatasetPage, { description: 'The datasets that the caller may read, without drafts and snapshots.' })
  async datasets(
    @Ctx() ctx: Context,
    @Args(() => OwnedPageArgs) page: OwnedPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.page(Dataset, await resolvePage(ctx, page), info, {
      sql: 'not is_draft and not is_snapshot',
      params: [],
    });
  }

  @Can('datasets:create')
  @Mutation(() => Dataset, {
    description: 'Makes a dataset. It has no rows until its first refresh, which `refresh` asks for at once.',
  })
  async createDataset(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new dataset.' }) input: CreateDatasetInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Dataset, await datasets.create(ctx, input), info);
  }

  @Can('dataset:write')
  @Mutation(() => Dataset, { description: 'Changes a dataset. Its rows stay as they are until a refresh.' })
  async updateDataset(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateDatasetInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Dataset, await datasets.update(ctx, id, input), info);
  }

  @Can('dataset:delete')
  @Mutation(() => ID, {
    description:
      'Deletes a dataset with its rows, snapshots, drafts and the file it was uploaded as; answers its id as given.',
  })
  async deleteDataset(@Ctx() ctx: Context, @Key('dataset') id: string) {
    await datasets.remove(ctx, id);
    return id;
  }

  @Can('authenticated')
  @Subscription(() => Dataset, {
    description: 'A dataset: at first as it is, then whenever its rows have been replaced.',
    subscribe: ({ context, args }) => updates(context as Context, (args as { id: string }).id),
  })
  datasetUpdated(
    @Root() found: string,
    @Ctx() ctx: Context,
    @Key('dataset') _id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(Dataset, found, info);
  }

  @Requires(...SOURCE)
  @FieldResolver(() => ID, { nullable: true, description: 'The datasource its query runs on.' })
  async datasourceId(@Ctx() ctx: Context, @Root() dataset: SourceRow) {
    return (await loadEffectiveQuery(ctx, dataset))?.datasourceId ?? null;
  }

  @Requires(...SOURCE)
  @FieldResolver(() => String, {
    nullable: true,
    description: 'The query, with `{{name}}` for parameters; null to those who may not write the dataset.',
  })
  async query(@Ctx() ctx: Context, @Root() dataset: SourceRow) {
    return (await writes(ctx, dataset)) ? ((await loadEffectiveQuery(ctx, dataset))?.query ?? null) : null;
  }

  @Requires(...SOURCE)
  @FieldResolver(() => [QueryParameter], {
    nullable: true,
    description: 'The query’s parameters; null to those who may not write the dataset.',
  })
  async params(@Ctx() ctx: Context, @Root() dataset: SourceRow) {
    return (await writes(ctx, dataset)) ? ((await loadEffectiveQuery(ctx, dataset))?.params ?? []) : null;
  }

  @Requires('flow', ...LEVEL_NEEDS)
  @FieldResolver(() => [JsonObject], {
    nullable: true,
    description: 'The steps that its rows pass when they are loaded; null to those who may not write the dataset.',
  })
  async flow(@Ctx() ctx: Context, @Root() dataset: Owned & Pick<Dataset, 'flow'>) {
    return (await writes(ctx, dataset)) ? dataset.flow : null;
  }

  @Requires('generationId', ...LEVEL_NEEDS)
  @FieldResolver(() => String, {
    nullable: true,
    description:
      'Name of its rows in the index; null before the first refresh and to those who may not write the dataset.',
  })
  async esIndex(@Ctx() ctx: Context, @Root() dataset: Owned & Pick<Dataset, 'generationId'>) {
    return (await writes(ctx, dataset)) ? (dataset.generationId ?? null) : null;
  }

  @Requires('fields', ...LEVEL_NEEDS)
  @FieldResolver(() => [DatasetField], {
    description: 'Its fields, as far as the caller sees them; none before the first refresh.',
  })
  fields(@Ctx() ctx: Context, @Root() dataset: Owned & Pick<Dataset, 'fields'>) {
    return visibleFields(ctx, dataset);
  }

  @Requires('records', ...VIEWED)
  @FieldResolver(() => Float, {
    nullable: true,
    description: 'Number of rows; to those who see a part of them, the number of these, and null in lists.',
  })
  async records(
    @Ctx() ctx: Context,
    @Root() dataset: ViewedDataset & Pick<Dataset, 'records'>,
    @Info() { path }: GraphQLResolveInfo,
  ) {
    if (!(await seesPart(ctx, dataset))) return dataset.records;
    return inList(path) ? null : (await search(ctx, dataset, { limit: 1 })).countAll();
  }

  @Requires('size', ...LEVEL_NEEDS)
  @FieldResolver(() => Float, {
    nullable: true,
    description: 'Bytes that its rows take; null to those who see a part of them.',
  })
  async size(@Ctx() ctx: Context, @Root() dataset: Owned & Pick<Dataset, 'size'>) {
    return (await seesPart(ctx, dataset)) ? null : dataset.size;
  }

  @Requires('size', ...LEVEL_NEEDS)
  @FieldResolver(() => String, { nullable: true, description: 'The same for people, e.g. `1.2 MB`.' })
  async sizeFormatted(@Ctx() ctx: Context, @Root() dataset: Owned & Pick<Dataset, 'size'>) {
    return (await seesPart(ctx, dataset)) ? null : formatSize(dataset.size);
  }

  @Requires('settings', ...LEVEL_NEEDS)
  @FieldResolver(() => JsonObject, {
    description: 'Settings of its front-ends; empty to those who see a part of it, since they may name any field.',
  })
  async settings(@Ctx() ctx: Context, @Root() dataset: Owned & Pick<Dataset, 'settings'>) {
    return (await seesPart(ctx, dataset)) ? {} : dataset.settings;
  }

  @Requires('lastRefresh', ...LEVEL_NEEDS)
  @FieldResolver(() => LastRefreshType, {
    nullable: true,
    description:
      'How the last refresh went; null before the first. How long it took and why it failed is not for those who see a part of the rows.',
  })
  async lastRefresh(@Ctx() ctx: Context, @Root() dataset: Owned & Pick<Dataset, 'lastRefresh'>) {
    const { lastRefresh } = dataset;
    return lastRefresh && (await seesPart(ctx, dataset))
      ? { ...lastRefresh, duration: null, error: null }
      : lastRefresh;
  }
}
