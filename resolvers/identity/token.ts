import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Ctx,
  Field,
  ID,
  Info,
  InputType,
  Mutation,
  ObjectType,
  Query,
  registerEnumType,
  Resolver,
} from 'type-graphql';
import { ApiToken } from '../../entities/api-token.ts';
import type { Context } from '../../src/core/context.ts';
import { DateTime } from '../../src/core/scalars.ts';
import * as tokens from '../../src/services/identity/token.ts';
import { Can } from '../support/guard.ts';

export const TokenScopeEnum = { READ: 'read', WRITE: 'write' } as const;
registerEnumType(TokenScopeEnum, {
  name: 'TokenScope',
  description: 'What a token may be used for.',
  valuesConfig: { READ: { description: 'Queries and subscriptions.' }, WRITE: { description: 'Mutations.' } },
});

/** A new API token. */
@InputType({ description: 'A new API token.' })
export class CreateTokenInput {
  @Field(() => String, { description: 'What it is for.' })
  name!: string;

  @Field(() => DateTime, { nullable: true, description: 'When it ends; never by default.' })
  expiresAt?: Date | null;

  @Field(() => [TokenScopeEnum], { nullable: true, description: 'What it may be used for; both by default.' })
  scopes?: ('read' | 'write')[];
}

/** A token that was just made. */
@ObjectType({ description: 'A token that was just made, with the secret that is shown this once.' })
export class NewApiToken extends ApiToken {
  @Field(() => String, { description: 'The secret: `Authorization: Bearer …`. It is not shown again.' })
  token!: string;
}

@Resolver(() => ApiToken)
export class TokenResolver {
  @Can('authenticated')
  @Query(() => [ApiToken], { description: 'The caller’s API tokens, the latest first.' })
  tokens(@Ctx() ctx: Context, @Info() info: GraphQLResolveInfo) {
    return ctx.read.list(ApiToken, info, { userId: ctx.viewer.userId });
  }

  @Can('session')
  @Mutation(() => NewApiToken, { description: 'Makes an API token of the caller. Needs a session.' })
  createToken(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new token.' }) input: CreateTokenInput,
  ): Promise<NewApiToken> {
    return tokens.create(ctx, input);
  }

  @Can('authenticated')
  @Mutation(() => ID, { description: 'Ends one of the caller’s tokens at once; answers its id.' })
  async deleteToken(@Ctx() ctx: Context, @Arg('id', () => ID, { description: 'Id of the token.' }) id: string) {
    await tokens.remove(ctx, id);
    return id;
  }
}
