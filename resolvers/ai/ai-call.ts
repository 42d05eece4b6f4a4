import type { GraphQLResolveInfo } from 'graphql';
import { Args, ArgsType, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import { AiCallFilter } from '../../entities/ai-call-input.ts';
import { AiCall } from '../../entities/ai-call.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { OperationError } from '../operation/operation.ts';
import { Can } from '../support/guard.ts';
import { PageLimit, PageStart, pageOf } from '../support/page.ts';

const AiCallPage = pageOf(AiCall, 'AiCall');

/** Filter and page of the audit of AI calls. */
@ArgsType()
class AiCallPageArgs extends AiCallFilter {
  @PageLimit()
  limit?: number;

  @PageStart()
  start?: number;
}

@Resolver(() => AiCall)
export class AiCallResolver {
  @Can('tenant:superuser')
  @Query(() => AiCallPage, {
    description: 'Lists the calls of AI providers in the tenant, latest first. They are deleted after 400 days.',
  })
  aiCalls(@Ctx() ctx: Context, @Args(() => AiCallPageArgs) page: AiCallPageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(AiCall, page, info);
  }

  @Requires('error')
  @FieldResolver(() => OperationError, { nullable: true, description: 'Why it did not succeed. Null if it succeeded.' })
  error(@Root() { error }: Pick<AiCall, 'error'>): OperationError | null {
    return error ?? null;
  }

  @Requires('sealedPrompt')
  @FieldResolver(() => String, { nullable: true, description: 'The prompt; null after 90 days.' })
  prompt(
    @Ctx() { platform }: Context,
    @Root() { id, sealedPrompt }: Pick<AiCall, 'id' | 'sealedPrompt'>,
  ): string | null {
    return sealedPrompt ? platform.secrets.open(sealedPrompt, `the prompt of the call ${id}`) : null;
  }
}
