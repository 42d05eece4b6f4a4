import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { ACTIVITY_TYPES, type ActivityType } from '../src/core/activity.ts';
import type { ResourceKind } from '../src/core/permissions.ts';
import { JsonObject } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';
import { ResourceKindEnum, wordEnum } from './word-enum.ts';

const ActivityTypeEnum = wordEnum(
  'ActivityType',
  'Type of an activity: the kind of the resource and an event.',
  [...ACTIVITY_TYPES.keys()],
  (type) => ACTIVITY_TYPES.get(type)!,
);

/** A change of a resource (docs/contract/resources.md#activity). It outlives the resource. */
@ObjectType({
  description: 'A change of a resource. It is stored for 400 days, even if the resource is deleted.',
  implements: Node,
})
@Entity()
export class Activity extends TenantRow {
  @Field(() => ResourceKindEnum, { description: 'Kind of the resource, e.g. `dataset` or `query`.' })
  @Property({ type: 'text' })
  kind!: ResourceKind;

  @Field(() => ID, { description: 'Id of the resource.' })
  @Property({ type: 'uuid' })
  resourceId!: string;

  @Field(() => String, { nullable: true, description: 'Display name of the resource at that time.' })
  @Property({ type: 'text', nullable: true })
  name?: string | null;

  /** Owner of the resource at that time. The feed of a team contains the activity (src/core/feed.ts). */
  @Property({ type: 'text', nullable: true })
  ownerId?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Id of the user who performed the change; null if the user is deleted.',
  })
  @Property({ type: 'uuid', nullable: true })
  userId?: string | null;

  @Field(() => ActivityTypeEnum, { description: 'Event type, with the kind as its prefix.' })
  @Property({ type: 'text' })
  type!: ActivityType;

  @Field(() => String, { description: 'Sentence that describes the change.' })
  @Property({ type: 'text' })
  message!: string;

  @Field(() => JsonObject, { description: 'Details that depend on the type, e.g. the names of the changed `fields`.' })
  @Property({ type: 'json' })
  data: Record<string, unknown> = {};
}
