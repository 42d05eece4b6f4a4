import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { REPORT } from '../../entities/owned-kinds.ts';
import { CreateReportInput, UpdateReportInput } from '../../entities/report-input.ts';
import { Report } from '../../entities/report.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { definitionForViewer } from '../../src/services/report/report-visibility.ts';
import * as reports from '../../src/services/report/report.ts';
import { resolveListArguments } from '../../src/services/resource/resolve-ids.ts';
import { ownedFields } from '../resource/owned.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { OwnedPageArgs, pageOf } from '../support/page.ts';

const ReportPage = pageOf(Report, 'Report');

export const ReportOwnedFields = ownedFields(REPORT);

@Resolver(() => Report)
export class ReportResolver {
  @Can('authenticated')
  @Query(() => Report, { nullable: true, description: 'Returns a report.' })
  report(@Ctx() ctx: Context, @Key('report') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Report, id, info);
  }

  @Can('authenticated')
  @Query(() => ReportPage, { description: 'Lists the reports that the caller can read.' })
  async reports(@Ctx() ctx: Context, @Args(() => OwnedPageArgs) page: OwnedPageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Report, await resolveListArguments(ctx, page), info);
  }

  @Can('reports:create')
  @Mutation(() => Report, { description: 'Creates a report.' })
  async createReport(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new report.' }) input: CreateReportInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Report, await reports.create(ctx, input), info);
  }

  @Can('report:write')
  @Mutation(() => Report, { description: 'Updates a report.' })
  async updateReport(
    @Ctx() ctx: Context,
    @Key('report') id: string,
    @Arg('input', { description: 'Values to change.' }) input: UpdateReportInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Report, await reports.update(ctx, id, input), info);
  }

  @Can('report:delete')
  @Mutation(() => ID, {
    description: 'Deletes a report. Its datasets are not deleted. Returns the `id` argument.',
  })
  async deleteReport(@Ctx() ctx: Context, @Key('report') id: string) {
    await reports.remove(ctx, id);
    return id;
  }
  @Requires('definition')
  @FieldResolver(() => JsonObject, {
    description:
      'Content of the report: `{"blocks": [{"id": "…", "type": "…", …}]}`, from top to bottom. ' +
      'Blocks are without the names of fields that are hidden from the caller.',
  })
  definition(@Ctx() ctx: Context, @Root() report: Pick<Report, 'id' | 'definition'>) {
    return definitionForViewer(ctx, report);
  }
}
