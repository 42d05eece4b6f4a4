import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
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
import { Datasource } from '../../entities/datasource.ts';
import { CreateSuiteInput, UpdateSuiteInput } from '../../entities/suite-input.ts';
import { Suite } from '../../entities/suite.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as suites from '../../src/services/datasource/suite.ts';
import { canChange } from '../../src/services/resource/unowned-kind.ts';
import { Id } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const SuitePage = pageOf(Suite, 'Suite');

@ObjectType({ description: 'Permissions of the caller on a suite.' })
class SuitePermissions {
  @Field(() => Boolean, { description: 'Read the suite.' })
  read!: boolean;

  @Field(() => Boolean, { description: 'Change the suite and its list of datasources.' })
  write!: boolean;

  @Field(() => Boolean, { description: 'Delete the suite.' })
  delete!: boolean;
}

/** Members of a suite as loaded by the read path: those that the caller can read, in order. */
interface MemberColumns {
  members: { datasourceId: string }[];
}

@Resolver(() => Suite)
export class SuiteResolver {
  @Can('authenticated')
  @Query(() => Suite, { nullable: true, description: 'Returns a suite.' })
  suite(@Ctx() ctx: Context, @Id('suite') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Suite, id, info);
  }

  @Can('authenticated')
  @Query(() => SuitePage, { description: 'Lists the suites of the tenant.' })
  suites(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Suite, page, info);
  }

  @Can('datasources:create')
  @Mutation(() => Suite, { description: 'Creates a suite of datasources that the caller can read.' })
  async createSuite(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new suite.' }) input: CreateSuiteInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(Suite, await suites.create(ctx, input), info);
  }

  @Can('suite:write')
  @Mutation(() => Suite, { description: 'Updates a suite. Only its creator and superusers can update it.' })
  async updateSuite(
    @Ctx() ctx: Context,
    @Id('suite') id: string,
    @Arg('input', { description: 'Values to change.' }) input: UpdateSuiteInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(Suite, await suites.update(ctx, id, input), info);
  }

  @Can('suite:delete')
  @Mutation(() => ID, {
    description:
      'Deletes a suite, but not its datasources. Only its creator and superusers can delete it. ' +
      'Returns the `id` argument.',
  })
  async deleteSuite(@Ctx() ctx: Context, @Id('suite') id: string) {
    await suites.remove(ctx, id);
    return id;
  }

  @Requires('members.datasourceId')
  @FieldResolver(() => [ID], { description: 'Ids of the suite’s datasources that the caller can read, in order.' })
  datasources(@Root() { members }: MemberColumns): string[] {
    return members.map(({ datasourceId }) => datasourceId);
  }

  @Requires('members.datasourceId')
  @FieldResolver(() => [Datasource], { description: 'The suite’s datasources that the caller can read, in order.' })
  async sources(@Ctx() ctx: Context, @Root() { members }: MemberColumns, @Info() info: GraphQLResolveInfo) {
    const ids = members.map(({ datasourceId }) => datasourceId);
    const found = await ctx.read.many(Datasource, ids, info);
    return found.filter((source) => source !== null);
  }

  @Requires('creatorId')
  @FieldResolver(() => SuitePermissions, { description: 'Permissions of the caller on the suite.' })
  permissions(@Ctx() { viewer }: Context, @Root() { creatorId }: { creatorId: string | null }): SuitePermissions {
    const isEditable = canChange(suites.SUITE, viewer, creatorId);
    return { read: true, write: isEditable, delete: isEditable };
  }
}
