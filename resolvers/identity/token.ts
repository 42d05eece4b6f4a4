import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, ID, Info, Mutation, Query, Resolver } from 'type-graphql';
import { ApiToken, NewApiToken } from '../../entities/api-token.ts';
import { CreateTokenInput } from '../../entities/token-input.ts';
import type { Context } from '../../src/core/context.ts';
import * as tokens from '../../src/services/identity/token.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs } from '../support/page.ts';

@Resolver(() => ApiToken)
export class TokenResolver {
  @Can('authenticated')
  @Query(() => [ApiToken], { description: 'Lists the API tokens of the caller, latest first.' })
  tokens(@Ctx() ctx: Context, @Args(() => ChildPageArgs) page: ChildPageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.list(ApiToken, info, { userId: ctx.viewer.userId }, page);
  }

  @Can('authenticated', { session: true })
  @Mutation(() => NewApiToken, { description: 'Creates an API token of the caller. Requires a session.' })
  createToken(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new token.' }) input: CreateTokenInput,
  ): Promise<NewApiToken> {
    return tokens.create(ctx, input);
  }

  @Can('authenticated')
  @Mutation(() => ID, {
    description: 'Deletes an API token of the caller, which becomes invalid immediately. Returns its id.',
  })
  async deleteToken(@Ctx() ctx: Context, @Arg('id', () => ID, { description: 'Id of the token.' }) id: string) {
    await tokens.remove(ctx, id);
    return id;
  }
}
