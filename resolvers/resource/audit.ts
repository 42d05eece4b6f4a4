import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, ArgsType, Ctx, Info, Query, Resolver, Root, Subscription } from 'type-graphql';
import { AuditFilter } from '../../entities/audit-event-input.ts';
import { AuditEvent } from '../../entities/audit-event.ts';
import type { Context } from '../../src/core/context.ts';
import type { ExportFormat } from '../../src/core/export-format.ts';
import { exportAuditLog } from '../../src/services/resource/audit-log.ts';
import { ExportChunk, ExportFormatEnum } from '../dataset/export-types.ts';
import { Can } from '../support/guard.ts';
import { PageLimit, PageStart, pageOf } from '../support/page.ts';

const AuditEventPage = pageOf(AuditEvent, 'AuditEvent');

/** Filter and page of the audit log. */
@ArgsType()
class AuditPageArgs extends AuditFilter {
  @PageLimit()
  limit?: number;

  @PageStart()
  start?: number;
}

@Resolver(() => AuditEvent)
export class AuditResolver {
  @Can('tenant:superuser')
  @Query(() => AuditEventPage, {
    description:
      'Lists the audit log of the tenant, latest first: every mutation that succeeded or was refused, including failed ' +
      'logins, and every download, through any channel. Events are deleted after 400 days.',
  })
  auditEvents(@Ctx() ctx: Context, @Args(() => AuditPageArgs) page: AuditPageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(AuditEvent, page, info);
  }

  @Can('tenant:superuser')
  @Subscription(() => ExportChunk, {
    description:
      'Exports all matching audit events, latest first, as a file. In GraphQL, the file is emitted in chunks, and the ' +
      'subscription completes after the last one; in REST, it is the response of `GET /audit/export`.',
    subscribe: ({ context, args: { format, ...filter } }) =>
      exportAuditLog(context as Context, format as ExportFormat, filter),
  })
  auditExport(
    @Root() chunk: ExportChunk,
    @Arg('format', () => ExportFormatEnum, { defaultValue: 'ndjson', description: 'Format of the file.' })
    _format: ExportFormat,
    @Args(() => AuditFilter) _filter: AuditFilter,
  ): ExportChunk {
    return chunk;
  }
}
