import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, FieldResolver, Float, ID, Info, Mutation, Resolver, Root } from 'type-graphql';
import { DatasetReference, type SnapshotSettings } from '../../entities/dataset-reference.ts';
import { Dataset } from '../../entities/dataset.ts';
import { Report } from '../../entities/report.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { countsOf } from '../../src/services/report/dataset-reference-counts.ts';
import { RESOLVED, shownParts, type ResolvedReference } from '../../src/services/report/dataset-reference-view.ts';
import * as references from '../../src/services/report/dataset-reference.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import {
  ChipType,
  CreateDatasetReferenceInput,
  ReferenceSnapshotsType,
  UpdateDatasetReferenceInput,
} from './dataset-reference-types.ts';

const Alias = () => Arg('alias', () => ID, { description: 'What the report calls the dataset.' });
/** What is looked at to show filter and chips. */
const SHOWN = [
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
    description: 'The datasets that it shows, in the order in which they were attached.',
  })
  datasetReferences(@Ctx() ctx: Context, @Root() report: { id: string }, @Info() info: GraphQLResolveInfo) {
    return ctx.read.children(Report, 'datasetReferences', report, info);
  }

  @FieldResolver(() => DatasetReference, { description: 'One of the datasets that it shows.' })
  async datasetReference(
    @Ctx() ctx: Context,
    @Root() { id: reportId }: { id: string },
    @Alias() alias: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const reference = await ctx.read.find(DatasetReference, { reportId, alias }, info);
    if (!reference) throw notFound({ what: 'dataset reference', id: alias });
    return reference;
  }
}

@Resolver(() => DatasetReference)
export class DatasetReferenceResolver {
  @Can('report:write')
  @Mutation(() => DatasetReference, { description: 'Attaches a dataset to a report, which has at most 100.' })
  async createDatasetReference(
    @Ctx() ctx: Context,
    @Key('report', 'reportId') reportId: string,
    @Arg('input', { description: 'The new reference.' }) input: CreateDatasetReferenceInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(DatasetReference, await references.create(ctx, reportId, input), info);
  }

  @Can('report:write')
  @Mutation(() => DatasetReference, { description: 'Changes how a report shows a dataset.' })
  async updateDatasetReference(
    @Ctx() ctx: Context,
    @Key('report', 'reportId') reportId: string,
    @Alias() alias: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateDatasetReferenceInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(DatasetReference, await references.update(ctx, reportId, alias, input), info);
  }

  @Can('report:write')
  @Mutation(() => ID, {
    description:
      'Takes a dataset out of a report, with the blocks that use it; answers the alias as given. The dataset stays.',
  })
  async deleteDatasetReference(
    @Ctx() ctx: Context,
    @Key('report', 'reportId') reportId: string,
    @Alias() alias: string,
  ) {
    await references.remove(ctx, reportId, alias);
    return alias;
  }

  @Requires('alias')
  @FieldResolver(() => ID, { description: 'The alias: it names the reference within its report.' })
  id(@Root() { alias }: { alias: string }) {
    return alias;
  }

  @Requires(...SHOWN)
  @FieldResolver(() => JsonObject, {
    description:
      'Which rows it shows: `{"criteria": [{"field", "op", "value"}]}`; empty for all, and to those who do not see all the fields that it names.',
  })
  async filter(@Ctx() ctx: Context, @Root() reference: ResolvedReference) {
    return (await shownParts(ctx, reference)).filter;
  }

  @Requires(...SHOWN)
  @FieldResolver(() => [ChipType], {
    description: 'Fields that readers may filter by; none to those who do not see all of them.',
  })
  async chips(@Ctx() ctx: Context, @Root() reference: ResolvedReference) {
    return (await shownParts(ctx, reference)).chips;
  }

  @Requires('snapshots', 'snapshotIds')
  @FieldResolver(() => ReferenceSnapshotsType, {
    nullable: true,
    description: 'Which moments of the dataset it shows; null for the current rows alone.',
  })
  snapshots(
    @Root() { snapshots, snapshotIds }: { snapshots: SnapshotSettings | null; snapshotIds: string[] },
  ): ReferenceSnapshotsType | null {
    return snapshots && { ...snapshots, snapshotDatasets: snapshotIds.map((datasetId) => ({ datasetId })) };
  }

  @FieldResolver(() => Dataset, { nullable: true, description: 'The dataset; null to those who may not read it.' })
  dataset(@Root() { dataset }: { dataset: Dataset | null }) {
    return dataset;
  }

  @Requires(...RESOLVED)
  @FieldResolver(() => Float, {
    nullable: true,
    description:
      'Rows that it shows: those that match its filter, of the current ones (unless they are left out) and of the snapshots. Null when the filter does not fit, and to those who may not read the dataset.',
  })
  count(@Ctx() ctx: Context, @Root() reference: ResolvedReference) {
    return countsOf(ctx, reference).count();
  }

  @Requires(...RESOLVED)
  @FieldResolver(() => Float, { nullable: true, description: 'Current rows that match its filter.' })
  countWithoutSnapshots(@Ctx() ctx: Context, @Root() reference: ResolvedReference) {
    return countsOf(ctx, reference).countWithoutSnapshots();
  }

  @Requires(...RESOLVED)
  @FieldResolver(() => Float, {
    nullable: true,
    description: 'All current rows and those of the snapshots, whatever its filter says.',
  })
  overallCount(@Ctx() ctx: Context, @Root() reference: ResolvedReference) {
    return countsOf(ctx, reference).overallCount();
  }

  @Requires(...RESOLVED)
  @FieldResolver(() => String, {
    nullable: true,
    description:
      'Why there is nothing to show: the caller may not read the dataset, or the filter does not fit its fields (any more). Null when all is well.',
  })
  problem(@Ctx() ctx: Context, @Root() reference: ResolvedReference) {
    return countsOf(ctx, reference).problem();
  }
}
