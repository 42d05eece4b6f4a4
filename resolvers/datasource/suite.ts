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
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { Datasource } from '../../entities/datasource.ts';
import { Suite } from '../../entities/suite.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as suites from '../../src/services/datasource/suite.ts';
import { canChange } from '../../src/services/resource/unowned-kind.ts';
import { Id } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const SuitePage = pageOf(Suite, 'Suite');

/** Changes of a suite. */
@InputType({ description: 'Changes of a suite. Absent keys stay as they are, null clears.' })
export class UpdateSuiteInput {
  @Field(() => String, { nullable: true, description: 'Display name.' })
  name?: string;

  @Field(() => String, { nullable: true, description: 'What it is for.' })
  description?: string | null;

  @Field(() => [ID], {
    nullable: true,
    description:
      'Its datasources in order, at most 1000, each of which the caller may read. Replaces those that the caller sees; others stay, behind these.',
  })
  datasourceIds?: string[] | null;
}

/** A new suite. */
@InputType({ description: 'A new suite.' })
export class CreateSuiteInput extends UpdateSuiteInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;
}

/** What the caller may do to a suite. */
@ObjectType({ description: 'What the caller may do to a suite.' })
export class SuitePermissions {
  @Field(() => Boolean, { description: 'See it.' }) read!: boolean;
  @Field(() => Boolean, { description: 'Change it and its datasources.' }) write!: boolean;
  @Field(() => Boolean, { description: 'Delete it.' }) delete!: boolean;
}

/** What the read path brings of a suite's members. */
interface MemberColumns {
  members: { datasourceId: string }[];
}

@Resolver(() => Suite)
export class SuiteResolver {
  @Can('authenticated')
  @Query(() => Suite, { description: 'One suite.' })
  suite(@Ctx() ctx: Context, @Id('suite') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Suite, id, info);
  }

  @Can('authenticated')
  @Query(() => SuitePage, { description: 'The suites of the tenant.' })
  suites(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Suite, page, info);
  }

  @Can('datasources:create')
  @Mutation(() => Suite, { description: 'Makes a suite of datasources that the caller may read.' })
  async createSuite(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new suite.' }) input: CreateSuiteInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(Suite, await suites.create(ctx, input), info);
  }

  @Can('suite:write')
  @Mutation(() => Suite, { description: 'Changes a suite, which its creator and superusers do.' })
  async updateSuite(
    @Ctx() ctx: Context,
    @Id('suite') id: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateSuiteInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(Suite, await suites.update(ctx, id, input), info);
  }

  @Can('suite:delete')
  @Mutation(() => ID, {
    description: 'Deletes a suite, which its creator and superusers do; answers its id as given. Its datasources stay.',
  })
  async deleteSuite(@Ctx() ctx: Context, @Id('suite') id: string) {
    await suites.remove(ctx, id);
    return id;
  }

  @Requires('members.datasourceId')
  @FieldResolver(() => [ID], { description: 'Ids of its datasources in order, as far as the caller may read them.' })
  datasources(@Root() { members }: MemberColumns): string[] {
    return members.map(({ datasourceId }) => datasourceId);
  }

  @Requires('members.datasourceId')
  @FieldResolver(() => [Datasource], { description: 'The same datasources themselves.' })
  async sources(@Ctx() ctx: Context, @Root() { members }: MemberColumns, @Info() info: GraphQLResolveInfo) {
    const found = await ctx.read.many(
      Datasource,
      members.map(({ datasourceId }) => datasourceId),
      info,
    );
    return found.filter((source) => source !== null);
  }

  @Requires('creatorId')
  @FieldResolver(() => SuitePermissions, { description: 'What the caller may do to it.' })
  permissions(@Ctx() { viewer }: Context, @Root() { creatorId }: { creatorId: string | null }): SuitePermissions {
    const changes = canChange(suites.SUITE, viewer, creatorId);
    return { read: true, write: changes, delete: changes };
  }
}
