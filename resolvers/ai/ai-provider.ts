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
import { CreateAiProviderInput, UpdateAiProviderInput } from '../../entities/ai-provider-input.ts';
import { AiProvider } from '../../entities/ai-provider.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as providers from '../../src/services/ai/ai-provider.ts';
import { Id } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const AiProviderPage = pageOf(AiProvider, 'AiProvider');

@ObjectType({ description: 'Permissions of the caller on an AI provider.' })
class AiProviderPermissions {
  @Field(() => Boolean, { description: 'Read the provider.' })
  read!: boolean;

  @Field(() => Boolean, { description: 'Change the provider.' })
  edit!: boolean;

  @Field(() => Boolean, { description: 'Delete the provider.' })
  delete!: boolean;
}

@Resolver(() => AiProvider)
export class AiProviderResolver {
  @Can('ai:access')
  @Query(() => AiProvider, { nullable: true, description: 'Returns an AI provider.' })
  aiProvider(@Ctx() ctx: Context, @Id('AI provider') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(AiProvider, id, info);
  }

  @Can('ai:access')
  @Query(() => AiProviderPage, { description: 'Lists the AI providers of the tenant and the caller’s own ones.' })
  aiProviders(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(AiProvider, page, info);
  }

  @Can('ai:access')
  @Mutation(() => AiProvider, {
    description:
      'Creates an AI provider: one of the tenant, which requires a superuser, or the caller’s own. It is not called, so ' +
      'that a wrong key is noticed at the first image or chat only.',
  })
  async createAiProvider(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new AI provider.' }) input: CreateAiProviderInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(AiProvider, await providers.create(ctx, input), info);
  }

  @Can('ai:access')
  @Mutation(() => AiProvider, {
    description: 'Updates an AI provider. Only superusers can update one of the tenant.',
  })
  async updateAiProvider(
    @Ctx() ctx: Context,
    @Id('AI provider') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateAiProviderInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(AiProvider, await providers.update(ctx, id, input), info);
  }

  @Can('ai:access')
  @Mutation(() => ID, {
    description: 'Deletes an AI provider. Only superusers can delete one of the tenant. Returns the `id` argument.',
  })
  async deleteAiProvider(@Ctx() ctx: Context, @Id('AI provider') id: string) {
    await providers.remove(ctx, id);
    return id;
  }

  @Requires('baseUrl', 'ownerId')
  @FieldResolver(() => String, {
    nullable: true,
    description: 'Base of the URLs of the API; null for callers who may not change the provider.',
  })
  baseUrl(@Ctx() ctx: Context, @Root() provider: Pick<AiProvider, 'baseUrl' | 'ownerId'>): string | null {
    return providers.isEditable(ctx, provider) ? provider.baseUrl : null;
  }

  @Requires('ownerId')
  @FieldResolver(() => AiProviderPermissions, { description: 'Permissions of the caller on the provider.' })
  permissions(@Ctx() ctx: Context, @Root() provider: Pick<AiProvider, 'ownerId'>): AiProviderPermissions {
    const isEditable = providers.isEditable(ctx, provider);
    return { read: true, edit: isEditable, delete: isEditable };
  }
}
