import { ArgsType, Field, ID } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import type { UsageResource } from '../src/core/usage.ts';
import { UsageResourceEnum } from './usage-event.ts';

/** Filters of the usage ledger. Absent ones do not restrict. */
@ArgsType()
export class UsageEventFilter {
  @Field(() => String, { nullable: true, description: 'Only usage by this actor: `user:<id>` or `agent:<id>`.' })
  actor?: string;

  @Field(() => UsageResourceEnum, { nullable: true, description: 'Only usage of this resource type.' })
  resourceType?: UsageResource;

  @Field(() => ID, { nullable: true, description: 'Only usage that is charged to the entity with this id.' })
  entityId?: string;

  @Field(() => DateTime, { nullable: true, description: 'Only usage at or after this time.' })
  from?: Date;

  @Field(() => DateTime, { nullable: true, description: 'Only usage before this time.' })
  to?: Date;
}
