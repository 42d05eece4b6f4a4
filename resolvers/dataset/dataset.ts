import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  Float,
  ID,
  Info,
  Int,
  Mutation,
  Query,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import { DatasetField } from '../../entities/dataset-field.ts';
import { CreateDatasetInput, UpdateDatasetInput } from '../../entities/dataset-input.ts';
import { DatasetShareInput } from '../../entities/dataset-share-input.ts';
import { Dataset, LastRefresh } from '../../entities/dataset.ts';
import { DATASET } from '../../entities/owned-kinds.ts';
import type { Context } from '../../src/core/context.ts';
import { intRule, Rule } from '../../src/core/input-rules.ts';
import { isRestricted } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { formatSize } from '../../src/core/size.ts';
import { countRows } from '../../src/services/dataset/dataset-data.ts';
import { setShare } from '../../src/services/dataset/dataset-share.ts';
import { watchDataset, type DatasetUpdate } from '../../src/services/dataset/dataset-updates.ts';
import { visibleFields, VIEW_COLUMNS, type ViewedDataset } from '../../src/services/dataset/dataset-view.ts';
import * as datasets from '../../src/services/dataset/dataset.ts';
import { accessLevel, type AccessColumns } from '../../src/services/resource/access-level.ts';
import { accessLevelColumns } from '../../src/services/resource/owned-kind.ts';
import { resolveListArguments } from '../../src/services/resource/resolve-ids.ts';
import { ownedFields } from '../resource/owned.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { OwnedPageArgs, pageOf } from '../support/page.ts';
import { readOnce } from '../support/shared-read.ts';

export const DatasetPage = pageOf(Dataset, 'Dataset');

export const DatasetOwnedFields = ownedFields(DATASET, { input: DatasetShareInput, set: setShare });

const ACCESS_COLUMNS = accessLevelColumns(DATASET);

/** Returns whether shares may hide rows or fields of the dataset from the caller. */
const isPartlyVisible = async (ctx: Context, dataset: AccessColumns) => isRestricted(await accessLevel(ctx, dataset));

@ArgsType()
class DatasetPageArgs extends OwnedPageArgs {
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the rows are not of a successful refresh: there was none, or the last one failed.',
  })
  stale?: boolean;

  @Rule(intRule(0))
  @Field(() => Int, {
    nullable: true,
    description: 'Minimum number of rows. Finds only datasets whose rows are all visible to the caller.',
  })
  minRecords?: number;

  @Rule(intRule(0))
  @Field(() => Int, {
    nullable: true,
    description: 'Maximum number of rows. Finds only datasets whose rows are all visible to the caller.',
  })
  maxRecords?: number;
}

@Resolver(() => Dataset)
export class DatasetResolver {
  @Can('authenticated')
  @Query(() => Dataset, { nullable: true, description: 'Returns a dataset, draft or snapshot.' })
  dataset(@Ctx() ctx: Context, @Key('dataset') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Dataset, id, info);
  }

  @Can('authenticated')
  @Query(() => DatasetPage, {
    description: 'Lists the datasets that the caller may read, without drafts and snapshots.',
  })
  async datasets(
    @Ctx() ctx: Context,
    @Args(() => DatasetPageArgs) page: DatasetPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.page(Dataset, await resolveListArguments(ctx, page), info, {
      sql: 'not is_draft and not is_snapshot',
      params: [],
    });
  }

  @Can('datasets:create')
  @Mutation(() => Dataset, {
    description: 'Creates a dataset. It has no rows until its first refresh, which `refresh` starts immediately.',
  })
  async createDataset(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new dataset.' }) input: CreateDatasetInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Dataset, await datasets.create(ctx, input), info);
  }

  @Can('dataset:write')
  @Mutation(() => Dataset, { description: 'Updates a dataset. Its rows do not change until a refresh.' })
  async updateDataset(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateDatasetInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Dataset, await datasets.update(ctx, id, input), info);
  }

  @Can('dataset:delete')
  @Mutation(() => ID, {
    description:
      'Deletes a dataset with its rows, snapshots, drafts and uploaded file. Returns the `id` argument. Fails ' +
      'with `CONFLICT` if the dataset is in use.',
  })
  async deleteDataset(@Ctx() ctx: Context, @Key('dataset') id: string) {
    await datasets.remove(ctx, id);
    return id;
  }

  @Can('authenticated')
  @Subscription(() => Dataset, {
    description:
      'Sends the dataset immediately, and again each time its rows are replaced. Ends when the dataset is deleted.',
    subscribe: ({ context, args }) => watchDataset(context as Context, (args as { id: string }).id),
  })
  datasetUpdated(
    @Root() update: DatasetUpdate,
    @Ctx() ctx: Context,
    @Key('dataset') _id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    return readOnce(update, info, () => ctx.read.one(Dataset, update.id, info));
  }

  @Requires('fields', ...ACCESS_COLUMNS)
  @FieldResolver(() => [DatasetField], {
    description: 'Fields that the caller can see; empty before the first refresh.',
  })
  fields(@Ctx() ctx: Context, @Root() dataset: AccessColumns & Pick<Dataset, 'fields'>) {
    return visibleFields(ctx, dataset);
  }

  @Requires('records', ...VIEW_COLUMNS)
  @FieldResolver(() => Float, {
    nullable: true,
    description:
      'Number of rows. If the caller sees only a part of the dataset: the number of visible rows, and null in lists.',
  })
  async records(
    @Ctx() ctx: Context,
    @Root() dataset: ViewedDataset & Pick<Dataset, 'records'>,
    @Info() { path }: GraphQLResolveInfo,
  ) {
    if (!(await isPartlyVisible(ctx, dataset))) return dataset.records;
    return isInList(path) ? null : countRows(ctx, dataset);
  }

  @Requires('size', ...ACCESS_COLUMNS)
  @FieldResolver(() => Float, {
    nullable: true,
    description: 'Size of the rows in bytes; null if the caller sees only a part of the dataset.',
  })
  async size(@Ctx() ctx: Context, @Root() dataset: AccessColumns & Pick<Dataset, 'size'>) {
    return (await isPartlyVisible(ctx, dataset)) ? null : dataset.size;
  }

  @Requires('size', ...ACCESS_COLUMNS)
  @FieldResolver(() => String, {
    nullable: true,
    description: 'Size in a readable form, e.g. `1.2 MB`; null if the caller sees only a part of the dataset.',
  })
  async sizeFormatted(@Ctx() ctx: Context, @Root() dataset: AccessColumns & Pick<Dataset, 'size'>) {
    return (await isPartlyVisible(ctx, dataset)) ? null : formatSize(dataset.size);
  }

  @Requires('settings', ...ACCESS_COLUMNS)
  @FieldResolver(() => JsonObject, {
    description:
      'Settings of client applications. Empty if the caller sees only a part of the dataset, because settings may ' +
      'name hidden fields.',
  })
  async settings(@Ctx() ctx: Context, @Root() dataset: AccessColumns & Pick<Dataset, 'settings'>) {
    return (await isPartlyVisible(ctx, dataset)) ? {} : dataset.settings;
  }

  @Requires('lastRefresh', ...ACCESS_COLUMNS)
  @FieldResolver(() => LastRefresh, {
    nullable: true,
    description: 'Outcome of the last refresh; null before the first one.',
  })
  async lastRefresh(@Ctx() ctx: Context, @Root() dataset: AccessColumns & Pick<Dataset, 'lastRefresh'>) {
    const { lastRefresh } = dataset;
    return lastRefresh && (await isPartlyVisible(ctx, dataset))
      ? { ...lastRefresh, duration: null, error: null }
      : lastRefresh;
  }
}

/** Returns whether a field is resolved for an item of a list instead of a single record. */
function isInList(path: GraphQLResolveInfo['path'] | undefined): boolean {
  for (let step = path; step; step = step.prev) if (typeof step.key === 'number') return true;
  return false;
}
