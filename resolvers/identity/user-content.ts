import { Ctx, Query, Resolver } from 'type-graphql';
import { UserContent } from '../../entities/user-content.ts';
import type { Context } from '../../src/core/context.ts';
import { countContent } from '../../src/services/identity/user-content.ts';
import { Can } from '../support/guard.ts';
import { MAX_FLAT_LIST } from '../support/page.ts';

@Resolver(() => UserContent)
export class UserContentResolver {
  @Can('authenticated')
  @Query(() => [UserContent], {
    description:
      'Counts the resources that each user of the tenant owns, by kind. Sorted by username. At most 10,000 users. ' +
      'Resources of teams are not counted. Also counts resources that the caller may not read.',
  })
  usersContent(@Ctx() ctx: Context) {
    return countContent(ctx, MAX_FLAT_LIST);
  }
}
