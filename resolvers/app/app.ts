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
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { App } from '../../entities/app.ts';
import { UpdateOwnedInput } from '../../entities/owned-input.ts';
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

/** Changes of an app. */
@InputType({ description: 'Changes of an app. Absent keys stay as they are, null clears.' })
export class UpdateAppInput extends UpdateOwnedInput {
  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Its environment: name to text, at most 100 names of letters, digits and `_`. A value of null takes a name out, `••••` keeps its value, names that are not given stay. Null takes all out.',
  })
  env?: Record<string, unknown> | null;
}

/** A new app. */
@InputType({ description: 'A new app.' })
export class CreateAppInput extends UpdateAppInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;
}

@Resolver(() => App)
export class AppResolver {
  @Can('authenticated')
  @Query(() => App, { description: 'One app.' })
  app(@Ctx() ctx: Context, @Key('app') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(App, id, info);
  }

  @Can('authenticated')
  @Query(() => AppPage, { description: 'The apps that the caller may read.' })
  async apps(@Ctx() ctx: Context, @Args(() => OwnedPageArgs) page: OwnedPageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(App, await resolveListArguments(ctx, page), info);
  }

  @Can('apps:create')
  @Mutation(() => App, { description: 'Makes an app, which is not deployed yet.' })
  async createApp(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new app.' }) input: CreateAppInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(App, await apps.create(ctx, input), info);
  }

  @Can('app:write')
  @Mutation(() => App, { description: 'Changes an app.' })
  async updateApp(
    @Ctx() ctx: Context,
    @Key('app') id: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateAppInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(App, await apps.update(ctx, id, input), info);
  }

  @Can('app:delete')
  @Mutation(() => ID, { description: 'Deletes an app; answers its id as given.' })
  async deleteApp(@Ctx() ctx: Context, @Key('app') id: string) {
    await apps.remove(ctx, id);
    return id;
  }

  @Requires('envNames', 'id', 'ownerId')
  @FieldResolver(() => JsonObject, {
    description:
      'Its environment: the names, each with `••••` for its value, which nobody is shown. Empty to those who may not write the app.',
  })
  async env(@Ctx() ctx: Context, @Root() app: Pick<App, 'envNames' | 'id' | 'ownerId'>) {
    return levelAllows(await accessLevel(ctx, app), 'app:write') ? apps.maskEnv(app.envNames) : {};
  }
}
