import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, ObjectType } from 'type-graphql';
import { newId } from '../src/core/id.ts';
import { DateTime, JsonObject } from '../src/core/scalars.ts';
import {
  USAGE_ACTOR_TYPES,
  USAGE_ENTITY_TYPES,
  USAGE_RESOURCE_TYPES,
  USAGE_RESOURCES,
  type UsageActorType,
  type UsageEntityType,
  type UsageResource,
} from '../src/core/usage.ts';
import { Node } from './node.ts';
import { wordEnum } from './word-enum.ts';

const typeOf = new Map(USAGE_RESOURCE_TYPES.map((type) => [type.slug, type]));

/** Slugs of resource types. REST prints the words, e.g. `job_compute`. */
export const UsageResourceEnum = wordEnum(
  'UsageResource',
  'Slug of a resource type, i.e. of a metered resource.',
  USAGE_RESOURCES,
  (slug) => `${typeOf.get(slug)!.name}, measured in the unit \`${typeOf.get(slug)!.unit}\`.`,
);

export const UsageActorTypeEnum = wordEnum(
  'UsageActorType',
  'Type of an actor whose usage is metered.',
  USAGE_ACTOR_TYPES,
  (type) => (type === 'user' ? 'A user.' : 'An agent.'),
);

export const UsageEntityTypeEnum = wordEnum(
  'UsageEntityType',
  'Type of the resource that usage is charged to.',
  USAGE_ENTITY_TYPES,
  (type) => (type === 'tenant' ? 'The whole tenant.' : `A ${type} that used something, or that was used.`),
);

/** One record of the usage ledger. The database refuses changes. See docs/contract/usage.md#usage-ledger. */
@ObjectType({
  description: 'Usage that was metered. Events never change, and are deleted after 25 months.',
  implements: Node,
})
@Entity()
export class UsageEvent {
  @Field(() => ID, { description: 'UUID, version 7.' })
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  tenantId!: string;

  @Field(() => DateTime, { description: 'Time of the usage. It counts to the UTC day of this time.' })
  @Property({ type: 'timestamptz' })
  occurredAt!: Date;

  @Field(() => String, { description: 'Who caused the usage: `user:<id>` or `agent:<id>`.' })
  @Property({ type: 'text' })
  actor!: string;

  @Field(() => UsageActorTypeEnum, { description: 'Type of the actor.' })
  @Enum({ items: () => [...USAGE_ACTOR_TYPES], type: 'text' })
  actorType!: UsageActorType;

  @Field(() => UsageEntityTypeEnum, { description: 'Type of the resource that the usage is charged to.' })
  @Enum({ items: () => [...USAGE_ENTITY_TYPES], type: 'text' })
  entityType!: UsageEntityType;

  @Field(() => ID, { description: 'Id of the resource that the usage is charged to. It may have been deleted since.' })
  @Property({ type: 'uuid' })
  entityId!: string;

  @Field(() => UsageResourceEnum, { description: 'Metered resource.' })
  @Enum({ items: () => [...USAGE_RESOURCES], type: 'text' })
  resourceType!: UsageResource;

  @Field(() => Float, { description: 'Quantity in the unit of the resource type.' })
  @Property({ type: 'decimal', columnType: 'numeric(24, 9)' })
  quantity!: number;

  @Field(() => Float, { description: 'Credits, exact to six decimals: quantity times the rate of the resource type.' })
  @Property({ type: 'decimal', columnType: 'numeric(15, 6)' })
  credits!: number;

  @Field(() => JsonObject, { description: 'Details that depend on the resource type.' })
  @Property({ type: 'json' })
  metadata: Record<string, unknown> = {};

  @Field(() => String, {
    description: 'Key of the metered work, unique within the tenant, e.g. `job:<run>`.',
  })
  @Property({ type: 'text' })
  key!: string;
}
