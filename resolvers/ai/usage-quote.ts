import { Arg, Ctx, Field, Float, ObjectType, Query, Resolver } from 'type-graphql';
import { UsageQuoteInput } from '../../entities/usage-quote-input.ts';
import type { Context } from '../../src/core/context.ts';
import { quoteUsage, type UsageQuote } from '../../src/services/assembly/usage-quote.ts';
import { Can } from '../support/guard.ts';

@ObjectType('UsageQuote', { description: 'Current price of an action. Nothing is reserved.' })
class UsageQuoteType implements UsageQuote {
  @Field(() => Float, { description: 'Credits that the action reserves; 0 with the user’s own AI provider.' })
  credits!: string;

  @Field(() => Float, {
    nullable: true,
    description:
      'Credits that are left in this UTC month: of the caller, or of the agent that is to run. Null without a limit.',
  })
  remaining!: string | null;

  @Field(() => Boolean, {
    description: 'Whether the usage profile allows the tier of the model, and the credits suffice.',
  })
  allowed!: boolean;

  @Field(() => String, { nullable: true, description: 'Why it is not allowed; null if it is.' })
  reason!: string | null;
}

@Resolver(() => UsageQuoteType)
export class UsageQuoteResolver {
  @Can('ai:access')
  @Query(() => UsageQuoteType, {
    description:
      'Returns the price of an action, and whether the credits suffice. Nothing is reserved. Fails as the action does ' +
      'for an unknown model, size or agent, and without an AI provider.',
  })
  usageQuote(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The action.' }) input: UsageQuoteInput,
  ): Promise<UsageQuote> {
    return quoteUsage(ctx, input);
  }
}
