import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { CreateAppInput, UpdateAppInput } from '../../entities/app-input.ts';
import { App } from '../../entities/app.ts';
import { APP } from '../../entities/owned-kinds.ts';
import type { Context } from '../../src/core/context.ts';
import { levelAllows } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as apps from '../../src/services/app/app.ts';
import { accessLevel } from '../../src/services/resource/access-level.ts';
import { resolveListArguments } from '../../src/services/resource/resolve-ids.ts';
import { ownedFields } from '../resource/owned.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { OwnedPageArgs, pageOf } from '../support/page.ts';

const AppPage = pageOf(App, 'App');

export const AppOwnedFields = ownedFields(APP);

@Resolver(() => App)
export class AppResolver {
  @Can('authenticated')
  @Query(() => App, { nullable: true, description: 'Returns an app.' })
  app(@Ctx() ctx: Context, @Key('app') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(App, id, info);
  }

  @Can('authenticated')
  @Query(() => AppPage, { description: 'Lists the apps that the caller may read.' })
  async apps(@Ctx() ctx: Context, @Args(() => OwnedPageArgs) page: OwnedPageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(App, await resolveListArguments(ctx, page), info);
  }

  @Can('apps:create')
  @Mutation(() => App, { description: 'Creates an app. It is not deployed yet.' })
  async createApp(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new app.' }) input: CreateAppInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(App, await apps.create(ctx, input), info);
  }

  @Can('app:write')
  @Mutation(() => App, { description: 'Updates an app.' })
  async updateApp(
    @Ctx() ctx: Context,
    @Key('app') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateAppInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(App, await apps.update(ctx, id, input), info);
  }

  @Can('app:delete')
  @Mutation(() => ID, { description: 'Deletes an app. Returns the `id` argument.' })
  async deleteApp(@Ctx() ctx: Context, @Key('app') id: string) {
    await apps.remove(ctx, id);
    return id;
  }

  @Requires('envNames', 'id', 'ownerId')
  @FieldResolver(() => JsonObject, {
    description:
      'Environment variables: every name with the value `••••`; the API never returns a value. ' +
      'Empty if the caller may not write the app.',
  })
  async env(@Ctx() ctx: Context, @Root() app: Pick<App, 'envNames' | 'id' | 'ownerId'>) {
    return levelAllows(await accessLevel(ctx, app), 'app:write') ? apps.maskEnv(app.envNames) : {};
  }
}
