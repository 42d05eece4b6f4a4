import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, Float, ID, Info, Mutation, Resolver, Root } from 'type-graphql';
import { CreateDatasetReferenceInput, UpdateDatasetReferenceInput } from '../../entities/dataset-reference-input.ts';
import { Chip, DatasetReference, type SnapshotSettings } from '../../entities/dataset-reference.ts';
import { Dataset } from '../../entities/dataset.ts';
import { Report } from '../../entities/report.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { isUuid } from '../../src/core/id.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { WholeNumber } from '../../src/core/whole-number.ts';
import { countsOf } from '../../src/services/report/dataset-reference-counts.ts';
import {
  REFERENCE_COLUMNS,
  visibleFilterAndChips,
  type ResolvedReference,
} from '../../src/services/report/dataset-reference-view.ts';
import * as references from '../../src/services/report/dataset-reference.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs } from '../support/page.ts';
import { ReadsAllRows } from '../support/reads-all-rows.ts';
import { ReferenceSnapshots } from './dataset-reference-types.ts';

const Alias = () =>
  Arg('alias', () => ID, { description: 'Alias of the dataset in the report, or id of the reference.' });

/** Columns that decide whether the caller may see filter and chips. */
const VISIBILITY_COLUMNS = [
  'filter',
  'chips',
  'dataset.id',
  'dataset.ownerId',
  'dataset.parent.id',
  'dataset.parent.ownerId',
  'dataset.fields',
];

@Resolver(() => Report)
export class ReportReferenceFields {
  @FieldResolver(() => [DatasetReference], {
    description: 'Datasets that the report shows, in the order in which they were attached.',
  })
  datasetReferences(
    @Ctx() ctx: Context,
    @Root() report: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Report, 'datasetReferences', report, info, page);
  }

  @FieldResolver(() => DatasetReference, {
    nullable: true,
    description: 'A dataset that the report shows, by its alias or the id of the reference.',
  })
  async datasetReference(
    @Ctx() ctx: Context,
    @Root() { id: reportId }: { id: string },
    @Alias() alias: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const reference =
      (await ctx.read.find(DatasetReference, { reportId, alias }, info)) ??
      (isUuid(alias) ? await ctx.read.find(DatasetReference, { reportId, id: alias.toLowerCase() }, info) : null);
    if (!reference) throw notFound({ what: 'dataset reference', id: alias });
    return reference;
  }
}

@Resolver(() => DatasetReference)
export class DatasetReferenceResolver {
  @Can('report:write')
  @Mutation(() => DatasetReference, {
    description: 'Attaches a dataset to a report. A report has at most 100 datasets.',
  })
  async createDatasetReference(
    @Ctx() ctx: Context,
    @Key('report', 'reportId') reportId: string,
    @Arg('input', { description: 'The new reference.' }) input: CreateDatasetReferenceInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(DatasetReference, await references.create(ctx, reportId, input), info);
  }

  @Can('report:write')
  @Mutation(() => DatasetReference, { description: 'Updates how a report shows a dataset.' })
  async updateDatasetReference(
    @Ctx() ctx: Context,
    @Key('report', 'reportId') reportId: string,
    @Alias() alias: string,
    @Arg('input', { description: 'Values to change.' }) input: UpdateDatasetReferenceInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(DatasetReference, await references.update(ctx, reportId, alias, input), info);
  }

  @Can('report:write')
  @Mutation(() => ID, {
    description:
      'Detaches a dataset from a report and removes the blocks that use it. The dataset itself is not deleted. ' +
      'Returns the `alias` argument.',
  })
  async deleteDatasetReference(
    @Ctx() ctx: Context,
    @Key('report', 'reportId') reportId: string,
    @Alias() alias: string,
  ) {
    await references.remove(ctx, reportId, alias);
    return alias;
  }

  @Requires(...VISIBILITY_COLUMNS)
  @FieldResolver(() => JsonObject, {
    description:
      'Filter on the rows: `{"criteria": [{"field", "op", "value"}]}`. ' +
      'Empty for all rows, and if the caller cannot see all fields of the filter.',
  })
  async filter(@Ctx() ctx: Context, @Root() reference: ResolvedReference) {
    return (await visibleFilterAndChips(ctx, reference)).filter;
  }

  @Requires(...VISIBILITY_COLUMNS)
  @FieldResolver(() => [Chip], {
    description: 'Fields by which readers can filter. Empty if the caller cannot see all of them.',
  })
  async chips(@Ctx() ctx: Context, @Root() reference: ResolvedReference) {
    return (await visibleFilterAndChips(ctx, reference)).chips;
  }

  @Requires('snapshots', 'snapshotIds')
  @FieldResolver(() => ReferenceSnapshots, {
    nullable: true,
    description: 'Snapshot settings. Null if the reference shows current rows only.',
  })
  snapshots(
    @Root() { snapshots, snapshotIds }: { snapshots: SnapshotSettings | null; snapshotIds: string[] },
  ): ReferenceSnapshots | null {
    return snapshots && { ...snapshots, snapshotDatasets: snapshotIds.map((datasetId) => ({ datasetId })) };
  }

  @FieldResolver(() => Dataset, { nullable: true, description: 'The dataset. Null if the caller cannot read it.' })
  dataset(@Root() { dataset }: { dataset: Dataset | null }) {
    return dataset;
  }

  @ReadsAllRows()
  @Requires(...REFERENCE_COLUMNS)
  @WholeNumber()
  @FieldResolver(() => Float, {
    nullable: true,
    description:
      'Number of rows that the reference shows: matching current rows (unless excluded) and matching rows of its ' +
      'snapshots. Null if the filter does not fit the fields, or if the caller cannot read the dataset. Its GraphQL cost is 200.',
  })
  count(@Ctx() ctx: Context, @Root() reference: ResolvedReference) {
    return countsOf(ctx, reference).count();
  }

  @ReadsAllRows()
  @Requires(...REFERENCE_COLUMNS)
  @WholeNumber()
  @FieldResolver(() => Float, {
    nullable: true,
    description:
      'Number of current rows that match the filter. Null in the same cases as `count`. Its GraphQL cost is 200.',
  })
  countWithoutSnapshots(@Ctx() ctx: Context, @Root() reference: ResolvedReference) {
    return countsOf(ctx, reference).countWithoutSnapshots();
  }

  @Requires(...REFERENCE_COLUMNS)
  @WholeNumber()
  @FieldResolver(() => Float, {
    nullable: true,
    description:
      'Number of all current rows and of all rows of its snapshots, regardless of the filter. ' +
      'Null if the caller cannot read the dataset.',
  })
  overallCount(@Ctx() ctx: Context, @Root() reference: ResolvedReference) {
    return countsOf(ctx, reference).overallCount();
  }

  @Requires(...REFERENCE_COLUMNS)
  @FieldResolver(() => String, {
    nullable: true,
    description:
      'The reason why the reference shows no rows: the caller cannot read the dataset, ' +
      'or the filter does not (or no longer) fit its fields. Null without a problem.',
  })
  problem(@Ctx() ctx: Context, @Root() reference: ResolvedReference) {
    return countsOf(ctx, reference).problem();
  }
}
