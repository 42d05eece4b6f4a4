import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import { CreateSavedFilterInput, UpdateSavedFilterInput } from '../../entities/saved-filter-input.ts';
import { SavedFilter } from '../../entities/saved-filter.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { LEVEL } from '../../src/core/permissions.ts';
import { Criteria } from '../../src/core/query-language.ts';
import { Requires } from '../../src/core/read/model.ts';
import { filterForViewer, type FilterColumns } from '../../src/services/dataset/saved-filter-criteria.ts';
import * as filters from '../../src/services/dataset/saved-filter.ts';
import { ownershipLevel } from '../../src/services/resource/access-level.ts';
import { resolveReadable } from '../../src/services/resource/resolve-ids.ts';
import { Principal, principalColumns, principalOf, type PrincipalColumns } from '../resource/principal.ts';
import { Id, Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, PageArgs, pageOf } from '../support/page.ts';

const SavedFilterPage = pageOf(SavedFilter, 'SavedFilter');

@ObjectType({ description: 'The caller’s permissions on a saved filter.' })
class SavedFilterPermissions {
  @Field(() => Boolean, {
    description:
      'Whether the caller may update it or change its owner. If a share uses it, `dataset:share` is required as well.',
  })
  edit!: boolean;
  @Field(() => Boolean, { description: 'Whether the caller may delete it. Always false while a share uses it.' })
  delete!: boolean;
}

/** Arguments of the list of saved filters. */
@ArgsType()
class SavedFilterPageArgs extends PageArgs {
  @Field(() => [ID], {
    nullable: true,
    description: 'Ids, slugs or natural ids of datasets. Returns only filters of these datasets.',
  })
  datasets?: string[];
}

/** Columns of `FilterColumns`. */
const CRITERIA_COLUMNS = ['criteria', 'dataset.id', 'dataset.ownerId', 'dataset.fields'];

@Resolver(() => SavedFilter)
export class SavedFilterResolver {
  @Can('authenticated')
  @Query(() => SavedFilterPage, {
    description:
      'Lists the saved filters that the caller may read: filters of their own and of their teams, ' +
      'and filters that shares of datasets use, if they may share these datasets.',
  })
  async savedFilters(
    @Ctx() ctx: Context,
    @Args(() => SavedFilterPageArgs) { datasets, ...page }: SavedFilterPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    const where = datasets && { datasetId: await resolveReadable(ctx, Dataset, 'dataset', datasets) };
    return ctx.read.page(SavedFilter, page, info, where);
  }

  @Can('dataset:read')
  @Mutation(() => SavedFilter, {
    description: 'Creates a saved filter of a dataset. It is visible to its owner only, unless a share uses it.',
  })
  async createSavedFilter(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Arg('input', { description: 'The new saved filter.' }) input: CreateSavedFilterInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(SavedFilter, await filters.create(ctx, datasetId, input), info);
  }

  @Can('filter:edit')
  @Mutation(() => SavedFilter, {
    description: 'Updates a saved filter. If a share uses it, `dataset:share` is required as well.',
  })
  async updateSavedFilter(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Id('saved filter') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateSavedFilterInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(SavedFilter, await filters.update(ctx, datasetId, id, input), info);
  }

  @Can('filter:edit')
  @Mutation(() => ID, { description: 'Deletes a saved filter that no share uses. Returns the `id` argument.' })
  async deleteSavedFilter(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Id('saved filter') id: string,
  ) {
    await filters.remove(ctx, datasetId, id);
    return id;
  }

  @Can('filter:edit')
  @Mutation(() => SavedFilter, { description: 'Transfers a saved filter to another user or team.' })
  async setSavedFilterOwner(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Id('saved filter') id: string,
    @Arg('ownerId', () => ID, { description: 'New owner: `user:<id>`, `team:<id>`, or the id or name of a user.' })
    ownerId: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(SavedFilter, await filters.setOwner(ctx, datasetId, id, ownerId), info);
  }

  @Requires('ownerId', ...principalColumns('ownerUser', 'ownerTeam'))
  @FieldResolver(() => Principal, {
    description: 'Owner, with a display name. Its `qualifiedId` equals `ownerId`.',
  })
  owner(
    @Root() {
      ownerId,
      ownerUser,
      ownerTeam,
    }: {
      ownerId: string;
      ownerUser?: PrincipalColumns['user'];
      ownerTeam?: PrincipalColumns['team'];
    },
  ): Principal {
    return principalOf(ownerId, { user: ownerUser, team: ownerTeam });
  }

  @Requires(...CRITERIA_COLUMNS)
  @FieldResolver(() => Criteria, {
    nullable: true,
    description: 'Criteria over the rows. Null when they contain fields that are hidden from the caller.',
  })
  async criteria(@Ctx() ctx: Context, @Root() filter: FilterColumns) {
    return (await filterForViewer(ctx, filter)).criteria;
  }

  @Requires(...CRITERIA_COLUMNS)
  @FieldResolver(() => String, {
    nullable: true,
    description:
      'Reason why the filter does not fit the fields of the dataset, e.g. because a field was removed. ' +
      'Null when it fits. ' +
      'A query with such a filter fails. It never returns all rows.',
  })
  async problem(@Ctx() ctx: Context, @Root() filter: FilterColumns) {
    return (await filterForViewer(ctx, filter)).problem;
  }

  @Requires('ownerId', 'used', 'dataset.id', 'dataset.ownerId')
  @FieldResolver(() => SavedFilterPermissions, { description: 'The caller’s permissions.' })
  async permissions(
    @Ctx() ctx: Context,
    @Root() { ownerId, used, dataset }: { ownerId: string; used: boolean; dataset: FilterColumns['dataset'] },
  ): Promise<SavedFilterPermissions> {
    const own = ownershipLevel(ctx.viewer, ownerId) >= LEVEL.edit;
    return { edit: own && (!used || (await filters.canShareDataset(ctx, dataset))), delete: own && !used };
  }

  @FieldResolver(() => Dataset, {
    nullable: true,
    description: 'The dataset whose rows it filters. Null if the caller cannot read it.',
  })
  dataset(@Root() { dataset }: { dataset: Dataset | null }) {
    return dataset;
  }
}

@Resolver(() => Dataset)
export class DatasetFilterResolver {
  @FieldResolver(() => [SavedFilter], {
    description: 'Saved filters of the dataset that the caller may read, sorted by name.',
  })
  filters(
    @Ctx() ctx: Context,
    @Root() dataset: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Dataset, 'filters', dataset, info, page);
  }

  @FieldResolver(() => SavedFilter, { nullable: true, description: 'A saved filter of the dataset.' })
  async filter(
    @Ctx() ctx: Context,
    @Root() { id: datasetId }: { id: string },
    @Id('saved filter') id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const filter = await ctx.read.find(SavedFilter, { id, datasetId }, info);
    if (!filter) throw notFound({ what: 'filter', id });
    return filter;
  }
}
