import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Field, FieldResolver, Float, ID, Info, Mutation, ObjectType, Query, Resolver, Root, Subscription } from 'type-graphql';
import { Dataset, type LastRefresh } from '../entities/dataset.ts';
import { QueryParameter } from '../entities/query-parameter.ts';
import type { Context } from '../src/core/context.ts';
import { levelAllows } from '../src/core/permissions.ts';
import { Needs } from '../src/core/read/model.ts';
import { DateTime, JsonObject } from '../src/core/scalars.ts';
import { formatSize } from '../src/core/size.ts';
import type { QuerySource } from '../src/services/dataset-query.ts';
import { updates } from '../src/services/dataset-updates.ts';
import { visibleFields } from '../src/services/dataset-view.ts';
import * as datasets from '../src/services/dataset.ts';
import { DATASET } from '../src/services/kinds.ts';
import { levelOn, resolvePage } from '../src/services/rights.ts';
import { Key } from './arguments.ts';
import { DatasetField } from './dataset-field.ts';
import { CreateDatasetInput, UpdateDatasetInput } from './dataset-input.ts';
import { Can } from './guard.ts';
import { effectiveOf } from './linked-query.ts';
import { ownedFields } from './owned.ts';
import { OwnedPageArgs, pageOf } from './page.ts';

const DatasetPage = pageOf(Dataset, 'Dataset');

export const DatasetOwnedFields = ownedFields(DATASET);

/** How the last refresh went. */
@ObjectType('LastRefresh', { description: 'How the last refresh of a dataset went.' })
export class LastRefreshType implements LastRefresh {
  @Field(() => DateTime, { description: 'When it ended.' }) at!: string;
  @Field(() => Boolean, { description: 'Whether the rows were replaced.' }) success!: boolean;
  @Field(() => Float, { nullable: true, description: 'Milliseconds.' }) duration!: number | null;
  @Field(() => String, { nullable: true, description: 'Why it failed.' }) error!: string | null;
}

type SourceRow = QuerySource & Pick<Dataset, 'id' | 'ownerId'>;
const SOURCE = ['queryId', 'datasourceId', 'query', 'params', 'id', 'ownerId'] as const;
const writes = async (ctx: Context, dataset: Pick<Dataset, 'id' | 'ownerId'>) => levelAllows(await levelOn(ctx, dataset), 'dataset:write');

@Resolver(() => Dataset)
export class DatasetResolver {
  @Can('authenticated') @Query(() => Dataset, { description: 'One dataset, draft or snapshot.' })
  dataset(@Ctx() ctx: Context, @Key('dataset') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Dataset, id, info);
  }

  @Can('authenticated') @Query(() => DatasetPage, { description: 'The datasets that the caller may read, without drafts and snapshots.' })
  async datasets(@Ctx() ctx: Context, @Args(() => OwnedPageArgs) page: OwnedPageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Dataset, await resolvePage(ctx, page), info, { sql: 'not is_draft and not is_snapshot', params: [] });
  }

  @Can('datasets:create') @Mutation(() => Dataset, { description: 'Makes a dataset. It has no rows until its first refresh, which `refresh` asks for at once.' })
  async createDataset(@Ctx() ctx: Context, @Arg('input', { description: 'The new dataset.' }) input: CreateDatasetInput, @Info() info: GraphQLResolveInfo) {
    return ctx.read.written(Dataset, await datasets.create(ctx, input), info);
  }

  @Can('dataset:write') @Mutation(() => Dataset, { description: 'Changes a dataset. Its rows stay as they are until a refresh.' })
  async updateDataset(@Ctx() ctx: Context, @Key('dataset') id: string, @Arg('input', { description: 'What changes.' }) input: UpdateDatasetInput, @Info() info: GraphQLResolveInfo) {
    return ctx.read.written(Dataset, await datasets.update(ctx, id, input), info);
  }

  @Can('dataset:delete') @Mutation(() => ID, { description: 'Deletes a dataset with its rows, snapshots, drafts and the file it was uploaded as; answers its id as given.' })
  async deleteDataset(@Ctx() ctx: Context, @Key('dataset') id: string) {
    await datasets.remove(ctx, id);
    return id;
  }

  @Can('authenticated') @Subscription(() => Dataset, {
    description: 'A dataset: at first as it is, then whenever its rows have been replaced.',
    subscribe: ({ context, args }) => updates(context as Context, (args as { id: string }).id),
  })
  datasetUpdated(@Root() found: string, @Ctx() ctx: Context, @Key('dataset') _id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Dataset, found, info);
  }

  @Needs(...SOURCE) @FieldResolver(() => ID, { nullable: true, description: 'The datasource its query runs on.' })
  async datasourceId(@Ctx() ctx: Context, @Root() dataset: SourceRow) {
    return (await effectiveOf(ctx, dataset))?.datasourceId ?? null;
  }

  @Needs(...SOURCE) @FieldResolver(() => String, { nullable: true, description: 'The query, with `{{name}}` for parameters; null to those who may not write the dataset.' })
  async query(@Ctx() ctx: Context, @Root() dataset: SourceRow) {
    return await writes(ctx, dataset) ? (await effectiveOf(ctx, dataset))?.query ?? null : null;
  }

  @Needs(...SOURCE) @FieldResolver(() => [QueryParameter], { nullable: true, description: 'The query’s parameters; null to those who may not write the dataset.' })
  async params(@Ctx() ctx: Context, @Root() dataset: SourceRow) {
    return await writes(ctx, dataset) ? (await effectiveOf(ctx, dataset))?.params ?? [] : null;
  }

  @Needs('flow', 'id', 'ownerId') @FieldResolver(() => [JsonObject], { nullable: true, description: 'The steps that its rows pass when they are loaded; null to those who may not write the dataset.' })
  async flow(@Ctx() ctx: Context, @Root() dataset: Pick<Dataset, 'flow' | 'id' | 'ownerId'>) {
    return await writes(ctx, dataset) ? dataset.flow : null;
  }

  @Needs('generationId', 'id', 'ownerId') @FieldResolver(() => String, { nullable: true, description: 'Name of its rows in the index; null before the first refresh and to those who may not write the dataset.' })
  async esIndex(@Ctx() ctx: Context, @Root() dataset: Pick<Dataset, 'generationId' | 'id' | 'ownerId'>) {
    return await writes(ctx, dataset) ? dataset.generationId ?? null : null;
  }

  @Needs('id', 'ownerId', 'fields') @FieldResolver(() => [DatasetField], { description: 'Its fields; none before the first refresh.' })
  fields(@Ctx() ctx: Context, @Root() dataset: Pick<Dataset, 'fields'>) {
    return visibleFields(ctx, dataset);
  }

  @Needs('records') @FieldResolver(() => Float, { description: 'Number of rows.' })
  records(@Root() { records }: { records: number }) {
    return records;
  }

  @Needs('size') @FieldResolver(() => Float, { description: 'Bytes that its rows take.' })
  size(@Root() { size }: { size: number }) {
    return size;
  }

  @Needs('size') @FieldResolver(() => String, { description: 'The same for people, e.g. `1.2 MB`.' })
  sizeFormatted(@Root() { size }: { size: number }) {
    return formatSize(size);
  }

  @Needs('lastRefresh') @FieldResolver(() => LastRefreshType, { nullable: true, description: 'How the last refresh went; null before the first.' })
  lastRefresh(@Root() { lastRefresh }: { lastRefresh: LastRefresh | null }) {
    return lastRefresh;
  }

  @FieldResolver(() => Boolean, { description: 'Whether the caller keeps settings of their own for it.' })
  hasUserSettings() {
    return false;
  }
}
