import { FieldResolver, Resolver, Root } from 'type-graphql';
import { Activity } from '../../entities/activity.ts';
import { Requires } from '../../src/core/read/model.ts';
import { pageOf } from '../support/page.ts';
import { Principal, principalOf, type PrincipalColumns } from './principal.ts';

export const ActivityPage = pageOf(Activity, 'Activity');

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
