import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { TOOLKIT } from '../../entities/owned-kinds.ts';
import { CreateToolkitInput, UpdateToolkitInput } from '../../entities/toolkit-input.ts';
import { Toolkit } from '../../entities/toolkit.ts';
import type { Context } from '../../src/core/context.ts';
import { levelAllows } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { accessLevel } from '../../src/services/resource/access-level.ts';
import { resolveListArguments } from '../../src/services/resource/resolve-ids.ts';
import { redactConfig } from '../../src/services/toolkit/toolkit-secrets.ts';
import * as toolkits from '../../src/services/toolkit/toolkit.ts';
import { ownedFields } from '../resource/owned.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { OwnedPageArgs, pageOf } from '../support/page.ts';

const ToolkitPage = pageOf(Toolkit, 'Toolkit');

export const ToolkitOwnedFields = ownedFields(TOOLKIT);

@Resolver(() => Toolkit)
export class ToolkitResolver {
  @Can('authenticated')
  @Query(() => Toolkit, { nullable: true, description: 'Returns a toolkit.' })
  toolkit(@Ctx() ctx: Context, @Key('toolkit') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Toolkit, id, info);
  }

  @Can('authenticated')
  @Query(() => ToolkitPage, { description: 'Lists the toolkits that the caller can read.' })
  async toolkits(
    @Ctx() ctx: Context,
    @Args(() => OwnedPageArgs) page: OwnedPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.page(Toolkit, await resolveListArguments(ctx, page), info);
  }

  @Can('toolkits:create')
  @Mutation(() => Toolkit, { description: 'Creates a toolkit. No server is called.' })
  async createToolkit(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new toolkit.' }) input: CreateToolkitInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Toolkit, await toolkits.create(ctx, input), info);
  }

  @Can('toolkit:write')
  @Mutation(() => Toolkit, { description: 'Updates a toolkit. No server is called.' })
  async updateToolkit(
    @Ctx() ctx: Context,
    @Key('toolkit') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateToolkitInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Toolkit, await toolkits.update(ctx, id, input), info);
  }

  @Can('toolkit:delete')
  @Mutation(() => ID, { description: 'Deletes a toolkit with its tools. Returns the `id` argument.' })
  async deleteToolkit(@Ctx() ctx: Context, @Key('toolkit') id: string) {
    await toolkits.remove(ctx, id);
    return id;
  }

  @Requires('config', 'type', 'id', 'ownerId')
  @FieldResolver(() => JsonObject, {
    description:
      'Settings as defined by the JSON Schema of the driver. Secrets are shown as `••••`. Without the permission ' +
      '`toolkit:write`, arguments of a command are `••••`, too, and URLs have no query.',
  })
  async config(@Ctx() ctx: Context, @Root() toolkit: Pick<Toolkit, 'config' | 'type' | 'id' | 'ownerId'>) {
    const { type, config } = toolkit;
    return levelAllows(await accessLevel(ctx, toolkit), 'toolkit:write') ? config : redactConfig(type, config);
  }
}
