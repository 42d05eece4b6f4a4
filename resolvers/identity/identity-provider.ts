import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { CreateIdentityProviderInput, UpdateIdentityProviderInput } from '../../entities/identity-provider-input.ts';
import { IdentityProvider } from '../../entities/identity-provider.ts';
import { Team } from '../../entities/team.ts';
import type { Context } from '../../src/core/context.ts';
import * as providers from '../../src/services/identity/identity-provider.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, PageArgs, pageOf } from '../support/page.ts';

const IdentityProviderPage = pageOf(IdentityProvider, 'IdentityProvider');

const ProviderId = () => Arg('id', () => ID, { description: 'Id of the identity provider.' });

@Resolver(() => IdentityProvider)
export class IdentityProviderResolver {
  @Can('tenant:superuser', { session: true })
  @Query(() => IdentityProvider, { nullable: true, description: 'Returns an identity provider.' })
  identityProvider(@Ctx() ctx: Context, @ProviderId() id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(IdentityProvider, id, info);
  }

  @Can('tenant:superuser', { session: true })
  @Query(() => IdentityProviderPage, { description: 'Lists the identity providers of the tenant.' })
  identityProviders(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(IdentityProvider, page, info);
  }

  @Can('tenant:superuser', { session: true })
  @Mutation(() => IdentityProvider, {
    description: 'Creates an identity provider for a domain. The provider is called at the first login.',
  })
  async createIdentityProvider(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new identity provider.' }) input: CreateIdentityProviderInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(IdentityProvider, await providers.create(ctx, input), info);
  }

  @Can('tenant:superuser', { session: true })
  @Mutation(() => IdentityProvider, { description: 'Updates an identity provider.' })
  async updateIdentityProvider(
    @Ctx() ctx: Context,
    @ProviderId() id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateIdentityProviderInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(IdentityProvider, await providers.update(ctx, id, input), info);
  }

  @Can('tenant:superuser', { session: true })
  @Mutation(() => ID, {
    description: 'Deletes an identity provider. Its users stay. Returns the `id` argument.',
  })
  async deleteIdentityProvider(@Ctx() ctx: Context, @ProviderId() id: string) {
    await providers.remove(ctx, id);
    return id;
  }

  @FieldResolver(() => [Team], { description: 'Teams that new users join, by name.' })
  teams(
    @Ctx() ctx: Context,
    @Root() provider: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(IdentityProvider, 'teams', provider, info, page);
  }
}
