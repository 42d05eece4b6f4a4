import { Field, Float, ID, ObjectType } from 'type-graphql';
import { UsageActorTypeEnum, UsageEntityTypeEnum, UsageResourceEnum } from '../../entities/usage-event.ts';
import type { UsageActorType, UsageEntityType, UsageResource } from '../../src/core/usage.ts';
import { UuidField } from '../../src/core/uuid-field.ts';

const CREDITS = 'Credits, exact to six decimals.';
const EVENTS = 'Number of usage events.';

/** See docs/contract/usage.md#usage-reports. */
@ObjectType({ description: 'Usage of one resource type that is charged to one entity.' })
export class UsageSummary {
  @UuidField()
  @Field(() => ID, { description: 'Id of the charged resource. It may have been deleted since.' })
  entityId!: string;

  @Field(() => UsageEntityTypeEnum, { description: 'Type of the charged resource.' })
  entityType!: UsageEntityType;

  @Field(() => UsageResourceEnum, { description: 'Metered resource.' })
  resourceType!: UsageResource;

  @Field(() => Float, { description: CREDITS })
  totalCredits!: number;

  @Field(() => Float, { description: EVENTS })
  totalEvents!: number;
}

@ObjectType({ description: 'Credits of one resource type on one UTC day.' })
export class UsageDayTotal {
  @Field(() => String, { description: 'UTC day as `YYYY-MM-DD`.' })
  date!: string;

  @Field(() => UsageResourceEnum, { description: 'Metered resource.' })
  resourceType!: UsageResource;

  @Field(() => Float, { description: CREDITS })
  totalCredits!: number;
}

@ObjectType({ description: 'Usage of one resource type in one UTC month.' })
export class UsageMonthTotal {
  @Field(() => String, { description: 'UTC month as `YYYY-MM`.' })
  month!: string;

  @Field(() => UsageResourceEnum, { description: 'Metered resource.' })
  resourceType!: UsageResource;

  @Field(() => Float, { description: CREDITS })
  totalCredits!: number;

  @Field(() => Float, { description: EVENTS })
  totalEvents!: number;
}

@ObjectType({ description: 'An app, agent, assistant or job by the credits that are charged to it.' })
export class TopApp {
  @UuidField()
  @Field(() => ID, { description: 'Id of the app, agent, assistant or job.' })
  entityId!: string;

  @Field(() => UsageEntityTypeEnum, { description: 'Type of the charged resource.' })
  entityType!: UsageEntityType;

  @Field(() => String, { nullable: true, description: 'Display name; null if it was deleted.' })
  name!: string | null;

  @Field(() => String, { nullable: true, description: 'Short name; of an agent its id; null if it was deleted.' })
  slug!: string | null;

  @Field(() => Float, { description: CREDITS })
  totalCredits!: number;

  @Field(() => Float, { description: EVENTS })
  totalEvents!: number;
}

@ObjectType({ description: 'A user or agent by the credits that it caused.' })
export class TopUser {
  @Field(() => String, { description: 'Who caused the usage: `user:<id>` or `agent:<id>`.' })
  actor!: string;

  @Field(() => UsageActorTypeEnum, { description: 'Type of the actor.' })
  actorType!: UsageActorType;

  @Field(() => String, {
    nullable: true,
    description: 'Display name of a user, else the username; name of an agent. Null if it was deleted.',
  })
  displayName!: string | null;

  /** Id of a user, for the field `user`. */
  userId!: string | null;

  @Field(() => Float, { description: CREDITS })
  totalCredits!: number;

  @Field(() => Float, { description: EVENTS })
  totalEvents!: number;
}
