import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import { Notification } from '../../entities/notification.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as notifications from '../../src/services/resource/notification.ts';
import { Id } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { pageOf } from '../support/page.ts';

const NotificationPage = pageOf(Notification, 'Notification');

/** What a notification is about. */
@ObjectType({ description: 'What a notification is about. It may be gone by now.' })
export class NotificationResource {
  @Field(() => String, { description: 'Its kind, e.g. `dataset`.' }) kind!: string;
  @Field(() => ID, { description: 'Its id.' }) id!: string;
}

/** What can be changed of a notification. */
@InputType({ description: 'What changes of a notification.' })
export class UpdateNotificationInput {
  @Field(() => Boolean, { nullable: true, description: 'Whether the caller has read it.' })
  read?: boolean | null;
}

/** Which notifications are wanted. */
@ArgsType()
export class NotificationPageArgs {
  @Field(() => Boolean, {
    nullable: true,
    description: 'true: only those that are read; false: only those that are not.',
  })
  read?: boolean;

  @Field(() => String, {
    nullable: true,
    description:
      'Fields to sort by, separated by commas; `-` before one descends. Ties are broken by id. Default `-createdAt`.',
  })
  sort?: string;

  @Field(() => Int, { nullable: true, description: 'Items wanted, 1 to 1000. Default 30.' })
  limit?: number;

  @Field(() => Int, { nullable: true, description: 'Items to pass over. Default 0.' })
  start?: number;
}

@Resolver(() => Notification)
export class NotificationResolver {
  @Can('authenticated')
  @Query(() => NotificationPage, { description: 'What the caller was told in the last 90 days, the latest first.' })
  notifications(
    @Ctx() ctx: Context,
    @Args(() => NotificationPageArgs) page: NotificationPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.page(Notification, page, info);
  }

  @Can('authenticated')
  @Mutation(() => Notification, { description: 'Marks one of the caller’s notifications as read or unread.' })
  async updateNotification(
    @Ctx() ctx: Context,
    @Id('notification') id: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateNotificationInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Notification, await notifications.update(ctx, id, input), info);
  }

  @Can('authenticated')
  @Subscription(() => Notification, {
    name: 'notifications',
    description: 'Each new notification of the caller as it is made.',
    subscribe: ({ context }) => notifications.news(context as Context),
  })
  notified(@Root() id: string, @Ctx() ctx: Context, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Notification, id, info);
  }

  @Requires('resourceKind', 'resourceId')
  @FieldResolver(() => NotificationResource, {
    nullable: true,
    description: 'What it is about; null for what is about no resource.',
  })
  resource(@Root() { resourceKind, resourceId }: Notification): NotificationResource | null {
    return resourceKind && resourceId ? { kind: resourceKind, id: resourceId } : null;
  }

  @Requires('readAt')
  @FieldResolver(() => Boolean, { description: 'Whether the caller has read it.' })
  read(@Root() { readAt }: Notification): boolean {
    return Boolean(readAt);
  }
}
