import { Field, FieldResolver, Int, ArgsType, Resolver, Root } from 'type-graphql';
import { Activity } from '../../entities/activity.ts';
import { Requires } from '../../src/core/read/model.ts';
import { pageOf } from '../support/page.ts';
import { Principal, principalOf, type PrincipalColumns } from './principal.ts';

export const ActivityPage = pageOf(Activity, 'Activity');

/** The part of a list of children to return. */
@ArgsType()
export class ChildPageArgs {
  @Field(() => Int, {
    nullable: true,
    description: 'Maximum number of items, 1 to 1000. Default: all items, at most 1000.',
  })
  limit?: number;

  @Field(() => Int, { nullable: true, description: 'Number of items to skip. Default: 0.' })
  start?: number;
}

@Resolver(() => Activity)
export class ActivityResolver {
  @Requires('userId', 'user.username', 'user.displayName', 'user.email')
  @FieldResolver(() => Principal, {
    nullable: true,
    description: 'User who performed the change; null if the user is deleted.',
  })
  user(@Root() { userId, user }: PrincipalColumns & { userId: string | null }): Principal | null {
    return user ? principalOf(`user:${userId}`, { user }) : null;
  }
}
