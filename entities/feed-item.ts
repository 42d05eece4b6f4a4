import { Field, ID, ObjectType } from 'type-graphql';
import { ACTIVITY_TYPES, type ActivityType } from '../src/core/activity.ts';
import { FEED_TYPES } from '../src/core/feed.ts';
import type { ResourceKind } from '../src/core/permissions.ts';
import { DateTime } from '../src/core/scalars.ts';
import { UuidField } from '../src/core/uuid-field.ts';
import { ResourceKindEnum, wordEnum } from './word-enum.ts';

const descriptions = new Map([...FEED_TYPES].map(([type, feedType]) => [feedType, ACTIVITY_TYPES.get(type)!] as const));

/** Types of feed items. REST prints the words, e.g. `datasetDraftCommitted`. */
export const FeedItemTypeEnum = wordEnum(
  'FeedItemType',
  'Type of a feed item: the kind of the resource and an event.',
  [...descriptions.keys()],
  (type) => descriptions.get(type)!,
);

/** An activity in the feed of a team, read from the table of activities (team-feed-model.ts). */
@ObjectType({ description: 'An activity in the feed of a team. Its `id` is the id of the activity.' })
export class FeedItem {
  @UuidField()
  @Field(() => ID, { description: 'Id of the activity.' })
  id!: string;

  /** Type of the activity. The API shows the type of the feed item. */
  type!: ActivityType;

  @Field(() => ResourceKindEnum, { description: 'Kind of the resource, e.g. `report` or `comment`.' })
  entityType!: ResourceKind;

  @UuidField()
  @Field(() => ID, { description: 'Id of the resource. It may have been deleted since.' })
  entityId!: string;

  @UuidField()
  @Field(() => ID, { nullable: true, description: 'Id of the user who caused it; null if the user is deleted.' })
  userId?: string | null;

  @Field(() => String, { description: 'Sentence that describes the activity. It contains no values of rows.' })
  message!: string;

  @Field(() => DateTime, { description: 'Time of the activity.' })
  createdAt!: Date;
}
