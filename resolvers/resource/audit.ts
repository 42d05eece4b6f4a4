import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, ArgsType, Ctx, Field, ID, Info, Int, Query, Resolver, Root, Subscription } from 'type-graphql';
import { AuditEvent, AuditOutcomeEnum, AuditChannelEnum } from '../../entities/audit-event.ts';
import type { AuditOutcome, AuditChannel } from '../../src/core/audit.ts';
import type { Context } from '../../src/core/context.ts';
import type { ExportFormat } from '../../src/core/export-format.ts';
import { DateTime } from '../../src/core/scalars.ts';
import { exported } from '../../src/services/resource/audit-log.ts';
import { ExportChunk, ExportFormatEnum } from '../dataset/export-types.ts';
import { Can } from '../support/guard.ts';
import { pageOf } from '../support/page.ts';

const AuditEventPage = pageOf(AuditEvent, 'AuditEvent');

/** Which events are wanted. */
@ArgsType()
export class AuditArgs {
  @Field(() => ID, { nullable: true, description: 'Only what this user did.' })
  userId?: string;

  @Field(() => String, { nullable: true, description: 'Only calls of this GraphQL field, e.g. `shareDataset`.' })
  action?: string;

  @Field(() => String, { nullable: true, description: 'Only what is about this kind of resource, e.g. `dataset`.' })
  kind?: string;

  @Field(() => ID, { nullable: true, description: 'Only what is about this resource.' })
  resourceId?: string;

  @Field(() => AuditOutcomeEnum, { nullable: true, description: 'Only what ended so.' })
  outcome?: AuditOutcome;

  @Field(() => AuditChannelEnum, { nullable: true, description: 'Only what was asked for in this way.' })
  channel?: AuditChannel;

  @Field(() => DateTime, { nullable: true, description: 'Only from this moment on.' })
  from?: Date;

  @Field(() => DateTime, { nullable: true, description: 'Only before this moment.' })
  to?: Date;
}

/** The same with the part of the list that is wanted. */
@ArgsType()
export class AuditPageArgs extends AuditArgs {
  @Field(() => Int, { nullable: true, description: 'Items wanted, 1 to 1000. Default 30.' })
  limit?: number;

  @Field(() => Int, { nullable: true, description: 'Items to pass over. Default 0.' })
  start?: number;
}

@Resolver(() => AuditEvent)
export class AuditResolver {
  @Can('tenant:superuser')
  @Query(() => AuditEventPage, {
    description:
      'The audit log of the tenant, the latest first: each mutation that was done or refused, by whichever channel, failed logins among them. Events are kept for 400 days.',
  })
  auditEvents(@Ctx() ctx: Context, @Args(() => AuditPageArgs) page: AuditPageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(AuditEvent, page, info);
  }

  @Can('tenant:superuser')
  @Subscription(() => ExportChunk, {
    description:
      'The whole audit log, or what matches, the latest first, as a file in pieces; it ends with the last. REST streams them as `/audit/export`.',
    subscribe: ({ context, args: { format, ...filter } }) =>
      exported(context as Context, format as ExportFormat, filter),
  })
  auditExport(
    @Root() chunk: ExportChunk,
    @Arg('format', () => ExportFormatEnum, { defaultValue: 'ndjson', description: 'Format of the file.' })
    _format: ExportFormat,
    @Args(() => AuditArgs) _filter: AuditArgs,
  ): ExportChunk {
    return chunk;
  }
}
