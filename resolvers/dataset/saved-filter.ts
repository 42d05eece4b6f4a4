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
  InputType,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import { SavedFilter } from '../../entities/saved-filter.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { isUuid } from '../../src/core/id.ts';
import { LEVEL } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { shownFilter, type FilterColumns } from '../../src/services/dataset/saved-filter-criteria.ts';
import * as filters from '../../src/services/dataset/saved-filter.ts';
import { ownershipLevel } from '../../src/services/resource/access-level.ts';
import { Principal, principalColumns, principalOf, type PrincipalColumns } from '../resource/principal.ts';
import { Id, Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const SavedFilterPage = pageOf(SavedFilter, 'SavedFilter');

/** Changes of a saved filter. */
@InputType({ description: 'Changes of a saved filter. Absent keys stay as they are, null clears.' })
export class UpdateSavedFilterInput {
  @Field(() => String, { nullable: true, description: 'Display name.' })
  name?: string;

  @Field(() => String, { nullable: true, description: 'What it is for.' })
  description?: string | null;

  @Field(() => JsonObject, {
    nullable: true,
    description: 'Criteria over the fields that the caller sees, e.g. `{"amount": {"$gte": 100}}`.',
  })
  criteria?: Record<string, unknown>;
}

/** A new saved filter. */
@InputType({ description: 'A new saved filter.' })
export class CreateSavedFilterInput extends UpdateSavedFilterInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;

  @Field(() => JsonObject, {
    description: 'Criteria over the fields that the caller sees, e.g. `{"amount": {"$gte": 100}}`.',
  })
  override criteria!: Record<string, unknown>;

  @Field(() => ID, {
    nullable: true,
    description: 'Whose it is: `user:<id>`, `team:<id>`, a user’s id or name. By default the caller’s.',
  })
  ownerId?: string;
}

/** What the caller may do to a saved filter. */
@ObjectType({ description: 'What the caller may do to a saved filter.' })
export class SavedFilterPermissions {
  @Field(() => Boolean, {
    description: 'Change it or give it away. What a share uses takes the right to share the dataset besides.',
  })
  edit!: boolean;
  @Field(() => Boolean, { description: 'Delete it; never while a share uses it.' }) delete!: boolean;
}

/** Which saved filters are wanted. */
@ArgsType()
export class SavedFilterPageArgs extends PageArgs {
  @Field(() => [ID], { nullable: true, description: 'Only those of these datasets, by id.' })
  datasets?: string[];
}

/** What is looked at to show a filter's criteria. */
const SHOWN = ['criteria', 'dataset.id', 'dataset.ownerId', 'dataset.fields'];

@Resolver(() => SavedFilter)
export class SavedFilterResolver {
  @Can('authenticated')
  @Query(() => SavedFilterPage, {
    description:
      'The saved filters that the caller may read: their own, their teams’, and those that shares use of datasets which they may share.',
  })
  savedFilters(
    @Ctx() ctx: Context,
    @Args(() => SavedFilterPageArgs) { datasets, ...page }: SavedFilterPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.page(SavedFilter, page, info, datasets && { datasetId: datasets.filter(isUuid) });
  }

  @Can('dataset:read')
  @Mutation(() => SavedFilter, {
    description: 'Keeps criteria over a dataset’s rows under a name, for its owner alone.',
  })
  async createSavedFilter(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Arg('input', { description: 'The new filter.' }) input: CreateSavedFilterInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(SavedFilter, await filters.create(ctx, datasetId, input), info);
  }

  @Can('filter:edit')
  @Mutation(() => SavedFilter, {
    description: 'Changes a saved filter; one that a share uses takes the right to share the dataset besides.',
  })
  async updateSavedFilter(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Id('saved filter') id: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateSavedFilterInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(SavedFilter, await filters.update(ctx, datasetId, id, input), info);
  }

  @Can('filter:edit')
  @Mutation(() => ID, { description: 'Deletes a saved filter that no share uses; answers its id as given.' })
  async deleteSavedFilter(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Id('saved filter') id: string,
  ) {
    await filters.remove(ctx, datasetId, id);
    return id;
  }

  @Can('filter:edit')
  @Mutation(() => SavedFilter, { description: 'Gives a saved filter to another user or team.' })
  async setSavedFilterOwner(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Id('saved filter') id: string,
    @Arg('ownerId', () => ID, { description: 'The new owner: `user:<id>`, `team:<id>`, a user’s id or name.' })
    ownerId: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(SavedFilter, await filters.setOwner(ctx, datasetId, id, ownerId), info);
  }

  @Requires('ownerId', ...principalColumns('ownerUser', 'ownerTeam'))
  @FieldResolver(() => Principal, {
    description: 'The owner, with the name to show; its `id` is spelt like `ownerId`.',
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
    return { ...principalOf(ownerId, { user: ownerUser, team: ownerTeam }), id: ownerId };
  }

  @Requires(...SHOWN)
  @FieldResolver(() => JsonObject, {
    nullable: true,
    description: 'What rows must be like; null to those who do not see all the fields that it names.',
  })
  async criteria(@Ctx() ctx: Context, @Root() filter: FilterColumns) {
    return (await shownFilter(ctx, filter)).criteria;
  }

  @Requires(...SHOWN)
  @FieldResolver(() => String, {
    nullable: true,
    description:
      'Why it does not fit the dataset (any more), e.g. since a field is gone; null when it does. Until it is mended it is an error, never all rows.',
  })
  async problem(@Ctx() ctx: Context, @Root() filter: FilterColumns) {
    return (await shownFilter(ctx, filter)).problem;
  }

  @Requires('ownerId', 'used', 'dataset.id', 'dataset.ownerId')
  @FieldResolver(() => SavedFilterPermissions, { description: 'What the caller may do to it.' })
  async permissions(
    @Ctx() ctx: Context,
    @Root() { ownerId, used, dataset }: { ownerId: string; used: boolean; dataset: FilterColumns['dataset'] },
  ): Promise<SavedFilterPermissions> {
    const own = ownershipLevel(ctx.viewer, ownerId) >= LEVEL.edit;
    return { edit: own && (!used || (await filters.canShareDataset(ctx, dataset))), delete: own && !used };
  }

  @FieldResolver(() => Dataset, { description: 'The dataset whose rows it chooses.' })
  dataset(@Root() { dataset }: { dataset: Dataset }) {
    return dataset;
  }
}

@Resolver(() => Dataset)
export class DatasetFilterFields {
  @FieldResolver(() => [SavedFilter], { description: 'Saved filters of it that the caller may read, by name.' })
  filters(@Ctx() ctx: Context, @Root() dataset: { id: string }, @Info() info: GraphQLResolveInfo) {
    return ctx.read.children(Dataset, 'filters', dataset, info);
  }

  @FieldResolver(() => SavedFilter, { description: 'One of its saved filters.' })
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
