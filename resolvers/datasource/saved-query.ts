import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  InputType,
  Int,
  Mutation,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { DatasetField } from '../../entities/dataset-field.ts';
import { UpdateOwnedInput } from '../../entities/owned-input.ts';
import { QueryParameter } from '../../entities/query-parameter.ts';
import { SavedQuery } from '../../entities/saved-query.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as queries from '../../src/services/datasource/saved-query.ts';
import { SAVED_QUERY } from '../../src/services/resource/owned-kinds.ts';
import { resolveListArguments } from '../../src/services/resource/resolve-ids.ts';
import { ownedFields } from '../resource/owned.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { OwnedPageArgs, pageOf } from '../support/page.ts';
import { QueryResult } from './query-result.ts';

const SavedQueryPage = pageOf(SavedQuery, 'SavedQuery');

export const SavedQueryOwnedFields = ownedFields(SAVED_QUERY);

/** Changes of a saved query. */
@InputType({ description: 'Changes of a saved query. Absent keys stay as they are, null clears.' })
export class UpdateSavedQueryInput extends UpdateOwnedInput {
  @Field(() => ID, { nullable: true, description: 'The datasource it runs on.' })
  datasourceId?: string;

  @Field(() => String, { nullable: true, description: 'Its language: `sql`.' })
  language?: string;

  @Field(() => String, {
    nullable: true,
    description: 'One statement; `{{name}}` stands for the value of a parameter.',
  })
  query?: string;

  @Field(() => [QueryParameter], { nullable: true, description: 'Its parameters; replaces the former.' })
  params?: QueryParameter[];
}

/** A new saved query. */
@InputType({ description: 'A new saved query.' })
export class CreateSavedQueryInput extends UpdateSavedQueryInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;

  @Field(() => ID, { description: 'The datasource it runs on.' })
  override datasourceId!: string;

  @Field(() => String, { description: 'One statement; `{{name}}` stands for the value of a parameter.' })
  override query!: string;
}

@Resolver(() => SavedQuery)
export class SavedQueryResolver {
  @Can('authenticated')
  @Query(() => SavedQuery, { description: 'One saved query.' })
  savedQuery(@Ctx() ctx: Context, @Key('query') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(SavedQuery, id, info);
  }

  @Can('authenticated')
  @Query(() => SavedQueryPage, { description: 'The saved queries that the caller may read.' })
  async savedQueries(
    @Ctx() ctx: Context,
    @Args(() => OwnedPageArgs) page: OwnedPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.page(SavedQuery, await resolveListArguments(ctx, page), info);
  }

  @Can('queries:create')
  @Mutation(() => SavedQuery, { description: 'Saves a query. It is checked for placeholders, not run.' })
  async createSavedQuery(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new query.' }) input: CreateSavedQueryInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(SavedQuery, await queries.create(ctx, input), info);
  }

  @Can('query:write')
  @Mutation(() => SavedQuery, {
    description: 'Changes a saved query; datasets that follow it change with it at their next refresh.',
  })
  async updateSavedQuery(
    @Ctx() ctx: Context,
    @Key('query') id: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateSavedQueryInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(SavedQuery, await queries.update(ctx, id, input), info);
  }

  @Can('query:delete')
  @Mutation(() => ID, { description: 'Deletes a saved query that no dataset follows; answers its id as given.' })
  async deleteSavedQuery(@Ctx() ctx: Context, @Key('query') id: string) {
    await queries.remove(ctx, id);
    return id;
  }

  @Can('query:run')
  @Mutation(() => QueryResult, {
    description: 'Runs a saved query, on its owner’s right to the datasource. Nothing of it is kept.',
  })
  runSavedQuery(
    @Ctx() ctx: Context,
    @Key('query') id: string,
    @Arg('params', () => JsonObject, { nullable: true, description: 'Values by name, instead of the defaults.' })
    params?: Record<string, unknown> | null,
    @Arg('limit', () => Int, { nullable: true, description: 'Rows wanted, 1 to 1000. Default 100.' }) limit?:
      | number
      | null,
  ) {
    return queries.run(ctx, id, params, limit);
  }

  @Requires('query')
  @FieldResolver(() => String, { description: 'One statement; `{{name}}` stands for the value of a parameter.' })
  query(@Root() { query }: { query: string }) {
    return query;
  }

  @Requires('fields')
  @FieldResolver(() => [DatasetField], {
    description:
      'Fields of its answer, as the source described them when it was saved; none when the source could not say.',
  })
  fields(@Root() { fields }: { fields: DatasetField[] }) {
    return fields;
  }
}
