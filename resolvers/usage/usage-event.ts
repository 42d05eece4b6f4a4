import type { GraphQLResolveInfo } from 'graphql';
import { Args, ArgsType, Ctx, Info, Query, Resolver } from 'type-graphql';
import { UsageEventFilter } from '../../entities/usage-event-input.ts';
import { UsageEvent } from '../../entities/usage-event.ts';
import type { Context } from '../../src/core/context.ts';
import { USAGE_RESOURCE_TYPES } from '../../src/core/usage.ts';
import { Can } from '../support/guard.ts';
import { PageLimit, PageStart, pageOf } from '../support/page.ts';
import { UsageResourceTypeType } from './usage-resource-type.ts';

const UsageEventPage = pageOf(UsageEvent, 'UsageEvent');

/** Filter and page of the usage ledger. */
@ArgsType()
class UsageEventPageArgs extends UsageEventFilter {
  @PageLimit()
  limit?: number;

  @PageStart()
  start?: number;
}

@Resolver(() => UsageEvent)
export class UsageEventResolver {
  @Can('billing:manage')
  @Query(() => UsageEventPage, {
    description:
      'Lists the usage ledger of the tenant, newest first: one event for everything that was metered, with its ' +
      'credits. Events are deleted after 25 months.',
  })
  usageEvents(
    @Ctx() ctx: Context,
    @Args(() => UsageEventPageArgs) page: UsageEventPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.page(UsageEvent, page, info);
  }

  @Can('tenant:superuser')
  @Query(() => [UsageResourceTypeType], { description: 'Lists the resource types that are metered.' })
  usageResourceTypes(): readonly UsageResourceTypeType[] {
    return USAGE_RESOURCE_TYPES;
  }
}
