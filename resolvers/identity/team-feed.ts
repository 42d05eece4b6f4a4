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
  Int,
  Mutation,
  ObjectType,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import { FeedItem, FeedItemTypeEnum } from '../../entities/feed-item.ts';
import { Team } from '../../entities/team.ts';
import type { ActivityType } from '../../src/core/activity.ts';
import type { Context } from '../../src/core/context.ts';
import { FEED_TYPES } from '../../src/core/feed.ts';
import { Rule } from '../../src/core/input-rules.ts';
import { Requires } from '../../src/core/read/model.ts';
import { checkTeamPermission } from '../../src/services/identity/team-access.ts';
import * as feeds from '../../src/services/identity/team-feed.ts';
import type { NewRow } from '../../src/services/resource/new-row-poller.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, pageOf } from '../support/page.ts';
import { readOnce } from '../support/shared-read.ts';

const FeedItemPage = pageOf(FeedItem, 'FeedItem');

/** Maximum number of items that one call marks as viewed. */
const MAX_MARKED = 1000;

/** Filter and page of a feed. */
@ArgsType()
class FeedArgs extends ChildPageArgs {
  @Field(() => Boolean, { nullable: true, description: 'Filters by whether the caller has viewed the item.' })
  viewed?: boolean;
}

@ObjectType({ description: 'Result of marking items of a feed as viewed.' })
class MarkFeedViewedPayload {
  @Field(() => Int, { description: 'Number of items that the caller had not viewed before.' })
  viewed!: number;
}

@Resolver(() => Team)
export class TeamFeedResolver {
  @FieldResolver(() => FeedItemPage, {
    nullable: true,
    description:
      'Activities of the team and of resources that it owned at that time, newest first: creations, changes, deletions, ' +
      'shares, committed drafts, failed refreshes and comments. Null with the error `FORBIDDEN` for callers who are ' +
      'neither members nor superusers.',
  })
  feed(
    @Ctx() ctx: Context,
    @Root() team: { id: string },
    @Args(() => FeedArgs) page: FeedArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    checkTeamPermission(ctx.viewer, team.id, 'team:participate');
    return ctx.read.childPage(Team, 'feed', team, info, page);
  }
}

@Resolver(() => FeedItem)
export class FeedItemResolver {
  @Can('team:participate')
  @Mutation(() => MarkFeedViewedPayload, {
    description:
      'Marks items of the feed of a team as viewed by the caller. If an id is not in the feed, none is marked.',
  })
  async markFeedViewed(
    @Ctx() ctx: Context,
    @Key('team') id: string,
    @Rule({ maxItems: MAX_MARKED })
    @Arg('activityIds', () => [ID], { description: 'Ids of the items, at most 1000. Repeated ones count once.' })
    activityIds: string[],
  ): Promise<MarkFeedViewedPayload> {
    return { viewed: await feeds.markViewed(ctx, id, activityIds) };
  }

  @Can('authenticated')
  @Subscription(() => FeedItem, {
    description:
      'Emits each new item in the feed of a team. Ends with the error `FORBIDDEN` once the caller is neither a member ' +
      'nor a superuser, and with `NOT_FOUND` once the team is deleted.',
    subscribe: ({ context, args }) => feeds.subscribe(context as Context, (args as { teamId: string }).teamId),
  })
  teamFeed(
    @Root() row: NewRow,
    @Ctx() ctx: Context,
    @Key('team', 'teamId') _teamId: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const access = feeds.throughFeeds(ctx.viewer) ?? undefined;
    return readOnce(row, info, () => ctx.read.one(FeedItem, row.id, info, access));
  }

  @FieldResolver(() => FeedItemTypeEnum, { description: 'Type: the kind of the resource and of the activity.' })
  type(@Root() { type }: { type: ActivityType }): string {
    return FEED_TYPES.get(type)!;
  }

  @Requires('view.id')
  @FieldResolver(() => Boolean, { description: 'Whether the caller has marked it as viewed.' })
  viewed(@Root() { view }: { view: object | null }): boolean {
    return view !== null;
  }
}
