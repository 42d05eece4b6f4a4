import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Agent } from '../../entities/agent.ts';
import { Team } from '../../entities/team.ts';
import { CreateUsageProfileInput, UpdateUsageProfileInput } from '../../entities/usage-profile-input.ts';
import { UsageProfile } from '../../entities/usage-profile.ts';
import { User } from '../../entities/user.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as profiles from '../../src/services/usage/usage-profile.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, PageArgs, pageOf } from '../support/page.ts';

const UsageProfilePage = pageOf(UsageProfile, 'UsageProfile');

@Resolver(() => UsageProfile)
export class UsageProfileResolver {
  @Can('tenant:superuser')
  @Query(() => UsageProfile, { nullable: true, description: 'Returns a usage profile.' })
  usageProfile(@Ctx() ctx: Context, @Key('usage profile') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(UsageProfile, id, info);
  }

  @Can('tenant:superuser')
  @Query(() => UsageProfilePage, {
    description:
      'Lists the usage profiles of the tenant: profiles of the system first, then the others by creation time.',
  })
  usageProfiles(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(UsageProfile, page, info);
  }

  @Can('usage:write')
  @Mutation(() => UsageProfile, { description: 'Creates a usage profile.' })
  async createUsageProfile(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new usage profile.' }) input: CreateUsageProfileInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(UsageProfile, await profiles.create(ctx, input), info);
  }

  @Can('usage:write')
  @Mutation(() => UsageProfile, {
    description: 'Updates a usage profile. A new cap applies immediately, and counts the usage of this month so far.',
  })
  async updateUsageProfile(
    @Ctx() ctx: Context,
    @Key('usage profile') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateUsageProfileInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(UsageProfile, await profiles.update(ctx, id, input), info);
  }

  @Can('usage:write')
  @Mutation(() => ID, {
    description:
      'Deletes a usage profile. Returns the `id` argument. Fails with `CONFLICT` for the default, for one of the system, ' +
      'and for one that is assigned.',
  })
  async deleteUsageProfile(@Ctx() ctx: Context, @Key('usage profile') id: string) {
    await profiles.remove(ctx, id);
    return id;
  }

  @Requires('creditCapPerMonth')
  @FieldResolver(() => Boolean, { description: 'Whether there is no monthly cap.' })
  isUnlimited(@Root() { creditCapPerMonth }: Pick<UsageProfile, 'creditCapPerMonth'>) {
    return creditCapPerMonth === null;
  }

  @FieldResolver(() => String, { description: 'Slug of the tenant.' })
  tenant(@Ctx() { viewer }: Context) {
    return viewer.tenant;
  }

  @Requires('slug')
  @FieldResolver(() => String, { description: 'Natural id, `tenant:slug`. Accepted wherever the id is.' })
  naturalId(@Ctx() { viewer }: Context, @Root() { slug }: { slug: string }) {
    return `${viewer.tenant}:${slug}`;
  }

  @FieldResolver(() => [Team], { description: 'Teams that have it, by name.' })
  teams(
    @Ctx() ctx: Context,
    @Root() profile: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(UsageProfile, 'teams', profile, info, page);
  }

  @FieldResolver(() => [User], { description: 'Users who have it, by username.' })
  users(
    @Ctx() ctx: Context,
    @Root() profile: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(UsageProfile, 'users', profile, info, page);
  }

  @FieldResolver(() => [Agent], {
    description: 'Agents that have it and that the caller may read, by name.',
  })
  agents(
    @Ctx() ctx: Context,
    @Root() profile: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(UsageProfile, 'agents', profile, info, page);
  }
}
