import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Field, ID, Info, InputType, Mutation, Query, Resolver } from 'type-graphql';
import { UpdateOwnedInput } from '../../entities/owned-input.ts';
import { Report } from '../../entities/report.ts';
import type { Context } from '../../src/core/context.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as reports from '../../src/services/report/report.ts';
import { REPORT } from '../../src/services/resource/owned-kinds.ts';
import { resolveListArguments } from '../../src/services/resource/resolve-ids.ts';
import { ownedFields } from '../resource/owned.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { OwnedPageArgs, pageOf } from '../support/page.ts';

const ReportPage = pageOf(Report, 'Report');

export const ReportOwnedFields = ownedFields(REPORT);

/** Changes of a report. */
@InputType({ description: 'Changes of a report. Absent keys stay as they are, null clears.' })
export class UpdateReportInput extends UpdateOwnedInput {
  @Field(() => JsonObject, {
    nullable: true,
    description:
      'What it shows: `{"blocks": […]}`, each block with an `id` of its own; at most 1 MB and 100 levels deep. Replaces the former. A block with a `dataset`, the alias of a dataset reference, asks for data: rows as `{"type": "table", fields, sort, limit, q, filter}`, groups as `{measures, groupBy, sort, limit, q, filter}`, a visual of the dataset as `{"type": "visual", "visual": id}`, one of the report’s own as a visual component with its `config`. `filter` is criteria or the id of a saved filter, `limit` at most 1000. Blocks lie within others in any list, as objects with `id` and `type`.',
  })
  definition?: Record<string, unknown> | null;

  @Field(() => JsonObject, {
    nullable: true,
    description: 'How it is shown, as its clients agree; at most 1 MB. Replaces the former.',
  })
  settings?: Record<string, unknown> | null;
}

/** A new report. */
@InputType({ description: 'A new report.' })
export class CreateReportInput extends UpdateReportInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;
}

@Resolver(() => Report)
export class ReportResolver {
  @Can('authenticated')
  @Query(() => Report, { description: 'One report.' })
  report(@Ctx() ctx: Context, @Key('report') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Report, id, info);
  }

  @Can('authenticated')
  @Query(() => ReportPage, { description: 'The reports that the caller may read.' })
  async reports(@Ctx() ctx: Context, @Args(() => OwnedPageArgs) page: OwnedPageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Report, await resolveListArguments(ctx, page), info);
  }

  @Can('reports:create')
  @Mutation(() => Report, { description: 'Makes a report.' })
  async createReport(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new report.' }) input: CreateReportInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Report, await reports.create(ctx, input), info);
  }

  @Can('report:write')
  @Mutation(() => Report, { description: 'Changes a report.' })
  async updateReport(
    @Ctx() ctx: Context,
    @Key('report') id: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateReportInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Report, await reports.update(ctx, id, input), info);
  }

  @Can('report:delete')
  @Mutation(() => ID, { description: 'Deletes a report; answers its id as given.' })
  async deleteReport(@Ctx() ctx: Context, @Key('report') id: string) {
    await reports.remove(ctx, id);
    return id;
  }
}
