import { Field, FieldResolver, Int, ArgsType, Resolver, Root } from 'type-graphql';
import { Activity } from '../../entities/activity.ts';
import { Requires } from '../../src/core/read/model.ts';
import { pageOf } from '../support/page.ts';
import { Principal, principalOf, type PrincipalColumns } from './principal.ts';

export const ActivityPage = pageOf(Activity, 'Activity');

/** Which part of a list below a resource is wanted. */
@ArgsType()
export class ChildPageArgs {
  @Field(() => Int, { nullable: true, description: 'Items wanted, 1 to 1000; by default all, up to 1000.' })
  limit?: number;

  @Field(() => Int, { nullable: true, description: 'Items to pass over. Default 0.' })
  start?: number;
}

@Resolver(() => Activity)
export class ActivityResolver {
  @Requires('userId', 'user.username', 'user.displayName', 'user.email')
  @FieldResolver(() => Principal, {
    nullable: true,
    description: 'Who did it, with the name to show; null when there is no such user any more.',
  })
  user(@Root() { userId, user }: PrincipalColumns & { userId: string | null }): Principal | null {
    return user ? principalOf(`user:${userId}`, { user }) : null;
  }
}
