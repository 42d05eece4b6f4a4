import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, ID, Info, Mutation, Query, Resolver } from 'type-graphql';
import { AppGrantInput } from '../../entities/app-grant-input.ts';
import { AppGrant } from '../../entities/app-grant.ts';
import type { Context } from '../../src/core/context.ts';
import * as grants from '../../src/services/app/app-grant.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs } from '../support/page.ts';

@Resolver(() => AppGrant)
export class AppGrantResolver {
  @Can('authenticated')
  @Query(() => [AppGrant], {
    description: 'Lists the rights that the caller grants to apps of other owners, latest first.',
  })
  appGrants(@Ctx() ctx: Context, @Args(() => ChildPageArgs) page: ChildPageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.list(AppGrant, info, { userId: ctx.viewer.userId }, page);
  }

  @Can('authenticated', { session: true })
  @Mutation(() => AppGrant, {
    description: 'Lets an app of another owner act with the rights of the caller. Requires a session.',
  })
  async setAppGrant(
    @Ctx() ctx: Context,
    @Key('app', 'appId') appId: string,
    @Arg('input', { description: 'Granted rights.' }) input: AppGrantInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(AppGrant, await grants.set(ctx, appId, input), info);
  }

  @Can('authenticated', { session: true })
  @Mutation(() => ID, {
    description: 'Deletes the grant of the caller to an app. Returns the `appId` argument. Requires a session.',
  })
  async deleteAppGrant(
    @Ctx() ctx: Context,
    @Arg('appId', () => ID, { description: 'Id, slug or natural id of the app.' }) appId: string,
  ) {
    await grants.remove(ctx, appId);
    return appId;
  }
}
