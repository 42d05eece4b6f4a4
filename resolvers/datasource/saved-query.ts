import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { DatasetField } from '../../entities/dataset-field.ts';
import { QUERY_LIMIT_RULE } from '../../entities/datasource-input.ts';
import { SAVED_QUERY } from '../../entities/owned-kinds.ts';
import { CreateSavedQueryInput, UpdateSavedQueryInput } from '../../entities/saved-query-input.ts';
import { SavedQuery } from '../../entities/saved-query.ts';
import type { Context } from '../../src/core/context.ts';
import { Rule } from '../../src/core/input-rules.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as queries from '../../src/services/datasource/saved-query.ts';
import { resolveListArguments } from '../../src/services/resource/resolve-ids.ts';
import { ownedFields } from '../resource/owned.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { OwnedPageArgs, pageOf } from '../support/page.ts';
import { QueryResultType } from './query-result.ts';

export const SavedQueryPage = pageOf(SavedQuery, 'SavedQuery');

export const SavedQueryOwnedFields = ownedFields(SAVED_QUERY);

@Resolver(() => SavedQuery)
export class SavedQueryResolver {
  @Can('authenticated')
  @Query(() => SavedQuery, { nullable: true, description: 'Returns a saved query.' })
  async savedQuery(@Ctx() ctx: Context, @Key('query') id: string, @Info() info: GraphQLResolveInfo) {
    const saved = await ctx.read.one(SavedQuery, id, info);
    if (saved.fields === null) saved.fields = await queries.describe(ctx, saved.id);
    return saved;
  }

  @Can('authenticated')
  @Query(() => SavedQueryPage, { description: 'Lists the saved queries that the caller can read.' })
  async savedQueries(
    @Ctx() ctx: Context,
    @Args(() => OwnedPageArgs) page: OwnedPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.page(SavedQuery, await resolveListArguments(ctx, page), info);
  }

  @Can('queries:create')
  @Mutation(() => SavedQuery, {
    description: 'Creates a saved query. Its placeholders and parameters are checked, but it is not run.',
  })
  async createSavedQuery(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new query.' }) input: CreateSavedQueryInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(SavedQuery, await queries.create(ctx, input), info);
  }

  @Can('query:write')
  @Mutation(() => SavedQuery, {
    description: 'Updates a saved query. Datasets that follow it use the new version from their next refresh on.',
  })
  async updateSavedQuery(
    @Ctx() ctx: Context,
    @Key('query') id: string,
    @Arg('input', { description: 'Values to change.' }) input: UpdateSavedQueryInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(SavedQuery, await queries.update(ctx, id, input), info);
  }

  @Can('query:delete')
  @Mutation(() => ID, {
    description: 'Deletes a saved query. Returns the `id` argument. Fails with `CONFLICT` while a dataset follows it.',
  })
  async deleteSavedQuery(@Ctx() ctx: Context, @Key('query') id: string) {
    await queries.remove(ctx, id);
    return id;
  }

  @Can('query:run')
  @Mutation(() => QueryResultType, {
    description: 'Runs a saved query with its owner’s permission on the datasource. The result is not stored.',
  })
  runSavedQuery(
    @Ctx() ctx: Context,
    @Key('query') id: string,
    @Arg('params', () => JsonObject, {
      nullable: true,
      description: 'Parameter values by name. They override the defaults.',
    })
    params?: Record<string, unknown> | null,
    @Arg('limit', () => Int, {
      nullable: true,
      description: 'Maximum number of rows to return, 1 to 1000. Default: 100.',
    })
    @Rule(QUERY_LIMIT_RULE)
    limit?: number | null,
  ) {
    return queries.run(ctx, id, params, limit);
  }

  @Requires('query')
  @FieldResolver(() => String, {
    description: 'A single SQL statement. `{{name}}` is a placeholder for the value of a parameter.',
  })
  query(@Root() { query }: { query: string }) {
    return query;
  }

  @Requires('fields')
  @FieldResolver(() => [DatasetField], {
    description:
      'Fields of the result as described by the datasource, which is asked when `savedQuery` first reads them after ' +
      'a change of the query. Empty before that, or if the datasource could not describe it.',
  })
  fields(@Root() { fields }: { fields: DatasetField[] | null }) {
    return fields ?? [];
  }
}
