import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { CreateAssistantInput, UpdateAssistantInput } from '../../entities/assistant-input.ts';
import { Assistant } from '../../entities/assistant.ts';
import { Dataset } from '../../entities/dataset.ts';
import { ASSISTANT } from '../../entities/owned-kinds.ts';
import { Toolkit } from '../../entities/toolkit.ts';
import type { Context } from '../../src/core/context.ts';
import * as assistants from '../../src/services/assistant/assistant.ts';
import { resolveListArguments } from '../../src/services/resource/resolve-ids.ts';
import { ownedFields } from '../resource/owned.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, OwnedPageArgs, pageOf } from '../support/page.ts';

const AssistantPage = pageOf(Assistant, 'Assistant');

export const AssistantOwnedFields = ownedFields(ASSISTANT);

@Resolver(() => Assistant)
export class AssistantResolver {
  @Can('authenticated')
  @Query(() => Assistant, { nullable: true, description: 'Returns an assistant.' })
  assistant(@Ctx() ctx: Context, @Key('assistant') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Assistant, id, info);
  }

  @Can('authenticated')
  @Query(() => AssistantPage, { description: 'Lists the assistants that the caller can read.' })
  async assistants(
    @Ctx() ctx: Context,
    @Args(() => OwnedPageArgs) page: OwnedPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.page(Assistant, await resolveListArguments(ctx, page), info);
  }

  @Can('assistants:create')
  @Mutation(() => Assistant, { description: 'Creates an assistant.' })
  async createAssistant(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new assistant.' }) input: CreateAssistantInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Assistant, await assistants.create(ctx, input), info);
  }

  @Can('assistant:write')
  @Mutation(() => Assistant, { description: 'Updates an assistant.' })
  async updateAssistant(
    @Ctx() ctx: Context,
    @Key('assistant') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateAssistantInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Assistant, await assistants.update(ctx, id, input), info);
  }

  @Can('assistant:delete')
  @Mutation(() => ID, { description: 'Deletes an assistant. Returns the `id` argument.' })
  async deleteAssistant(@Ctx() ctx: Context, @Key('assistant') id: string) {
    await assistants.remove(ctx, id);
    return id;
  }

  @FieldResolver(() => [Toolkit], { description: 'Toolkits that it uses and that the caller may read, by name.' })
  toolkits(
    @Ctx() ctx: Context,
    @Root() assistant: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Assistant, 'toolkits', assistant, info, page);
  }

  @FieldResolver(() => [Dataset], { description: 'Datasets that it uses and that the caller may read, by name.' })
  datasets(
    @Ctx() ctx: Context,
    @Root() assistant: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Assistant, 'datasets', assistant, info, page);
  }
}
