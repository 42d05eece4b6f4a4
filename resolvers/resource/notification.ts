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
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import { UpdateNotificationInput } from '../../entities/notification-input.ts';
import { Notification } from '../../entities/notification.ts';
import { ResourceKindEnum } from '../../entities/word-enum.ts';
import type { Context } from '../../src/core/context.ts';
import { Rule, SORT_RULE } from '../../src/core/input-rules.ts';
import { Requires } from '../../src/core/read/model.ts';
import { UuidField } from '../../src/core/uuid-field.ts';
import type { NewRow } from '../../src/services/resource/new-row-poller.ts';
import * as notifications from '../../src/services/resource/notification.ts';
import { Id } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { PageLimit, PageStart, pageOf } from '../support/page.ts';
import { readOnce } from '../support/shared-read.ts';

const NotificationPage = pageOf(Notification, 'Notification');

@ObjectType({ description: 'The resource that a notification concerns. It may have been deleted since.' })
export class NotificationResource {
  @Field(() => ResourceKindEnum, { description: 'Kind of the resource, e.g. `dataset`.' }) kind!: string;
  @UuidField()
  @Field(() => ID, { description: 'Id of the resource.' })
  id!: string;
}

/** Filter, order and page of the list of notifications. */
@ArgsType()
class NotificationPageArgs {
  @Field(() => Boolean, {
    nullable: true,
    description: 'Filters by whether the caller has read the notification.',
  })
  read?: boolean;

  @Rule(SORT_RULE)
  @Field(() => String, {
    nullable: true,
    description:
      'Comma-separated fields to sort by. `-` before a field sorts it in descending order. Ties are broken by id. ' +
      'Default: `-createdAt`.',
  })
  sort?: string;

  @PageLimit()
  limit?: number;

  @PageStart()
  start?: number;
}

@Resolver(() => Notification)
export class NotificationResolver {
  @Can('authenticated')
  @Query(() => NotificationPage, {
    description: 'Lists the notifications of the caller from the last 90 days, latest first.',
  })
  notifications(
    @Ctx() ctx: Context,
    @Args(() => NotificationPageArgs) page: NotificationPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.page(Notification, page, info);
  }

  @Can('authenticated')
  @Mutation(() => Notification, { description: 'Marks a notification of the caller as read or unread.' })
  async updateNotification(
    @Ctx() ctx: Context,
    @Id('notification') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateNotificationInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Notification, await notifications.update(ctx, id, input), info);
  }

  @Can('authenticated')
  @Subscription(() => Notification, {
    name: 'notifications',
    description: 'Emits each new notification of the caller.',
    subscribe: ({ context }) => notifications.subscribe(context as Context),
  })
  onNotification(@Root() row: NewRow, @Ctx() ctx: Context, @Info() info: GraphQLResolveInfo) {
    return readOnce(row, info, () => ctx.read.one(Notification, row.id, info));
  }

  @Requires('resourceKind', 'resourceId')
  @FieldResolver(() => NotificationResource, {
    nullable: true,
    description: 'The resource concerned. Null if the notification concerns none.',
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
