import { ArgsType, Field, ID } from 'type-graphql';
import type { AuditChannel, AuditOutcome } from '../src/core/audit.ts';
import { DateTime } from '../src/core/scalars.ts';
import { AuditChannelEnum, AuditOutcomeEnum } from './audit-event.ts';

/** Filters of the audit log. Absent ones do not restrict. */
@ArgsType()
export class AuditFilter {
  @Field(() => ID, { nullable: true, description: 'Only calls of this user.' })
  userId?: string;

  @Field(() => String, { nullable: true, description: 'Only calls of this GraphQL field, e.g. `shareDataset`.' })
  action?: string;

  @Field(() => String, {
    nullable: true,
    description: 'Only calls that concern this kind of resource, e.g. `dataset`.',
  })
  kind?: string;

  @Field(() => ID, { nullable: true, description: 'Only calls that concern the resource with this id.' })
  resourceId?: string;

  @Field(() => AuditOutcomeEnum, { nullable: true, description: 'Only calls with this outcome.' })
  outcome?: AuditOutcome;

  @Field(() => AuditChannelEnum, { nullable: true, description: 'Only calls received through this channel.' })
  channel?: AuditChannel;

  @Field(() => DateTime, { nullable: true, description: 'Only calls at or after this time.' })
  from?: Date;

  @Field(() => DateTime, { nullable: true, description: 'Only calls before this time.' })
  to?: Date;
}
