import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import type { ActivityType } from '../src/core/activity.ts';
import type { ResourceKind } from '../src/core/permissions.ts';
import { JsonObject } from '../src/core/scalars.ts';
import { TenantRow } from './tenant-row.ts';

/** Something that was done to a resource (specification, "Activity record"). It stays when the resource goes. */
@ObjectType({
  description: 'Something that was done to a resource. Kept for 400 days, also when the resource is gone.',
})
@Entity()
export class Activity extends TenantRow {
  @Field(() => String, { description: 'What the resource is, e.g. `dataset` or `query`.' })
  @Property({ type: 'text' })
  kind!: ResourceKind;

  @Field(() => ID, { description: 'The resource.' })
  @Property({ type: 'uuid' })
  resourceId!: string;

  @Field(() => String, { nullable: true, description: 'Display name of the resource at that time.' })
  @Property({ type: 'text', nullable: true })
  name?: string | null;

  /** Its owner at that time, whose feed shows it. */
  @Property({ type: 'text', nullable: true })
  ownerId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Who did it; null when there is no such user any more.' })
  @Property({ type: 'uuid', nullable: true })
  userId?: string | null;

  @Field(() => String, {
    description: 'What was done, beginning with the kind, e.g. `dataset.updated` or `report.owner.changed`.',
  })
  @Property({ type: 'text' })
  type!: ActivityType;

  @Field(() => String, { description: 'The same in a sentence for people.' })
  @Property({ type: 'text' })
  message!: string;

  @Field(() => JsonObject, { description: 'Particulars by type, e.g. the names of the changed `fields`.' })
  @Property({ type: 'json' })
  data: Record<string, unknown> = {};
}
