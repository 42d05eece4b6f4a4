import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Resolver, Root } from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import { CreateSnapshotInput, PromoteSnapshotInput, UpdateSnapshotInput } from '../../entities/snapshot-input.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { isUuid } from '../../src/core/id.ts';
import * as snapshots from '../../src/services/dataset/snapshot.ts';
import { OperationArgs } from '../operation/operation-arguments.ts';
import { Id, Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, pageOf } from '../support/page.ts';
import { DatasetCopy, toDatasetCopy } from './dataset-copy.ts';

const SnapshotPage = pageOf(Dataset, 'Snapshot');

@Resolver()
export class SnapshotResolver {
  @Can('dataset:copy')
  @Mutation(() => DatasetCopy, {
    description:
      'Creates a snapshot of a dataset with its current rows. The caller owns it. ' +
      'Users who may read the dataset may read its snapshots.',
  })
  async createSnapshot(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Arg('input', { description: 'The new snapshot.' }) input: CreateSnapshotInput,
    @Args(() => OperationArgs) { wait, progress }: OperationArgs,
  ) {
    return toDatasetCopy(await snapshots.create(ctx, datasetId, input, progress, wait));
  }

  @Can('dataset:write')
  @Mutation(() => Dataset, { description: 'Updates the name and description of a snapshot.' })
  async updateSnapshot(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Id('snapshot') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateSnapshotInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Dataset, await snapshots.update(ctx, datasetId, id, input), info);
  }

  @Can('dataset:write')
  @Mutation(() => ID, { description: 'Deletes a snapshot and its rows. Returns the `id` argument.' })
  async deleteSnapshot(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Id('snapshot') id: string,
  ) {
    await snapshots.remove(ctx, datasetId, id);
    return id;
  }

  @Can('dataset:copy')
  @Mutation(() => DatasetCopy, {
    description:
      'Turns a snapshot into an independent dataset of the caller, or creates one from it (`preserveSnapshot`). ' +
      'Unless the snapshot is preserved, `dataset:write` on it is required as well.',
  })
  async promoteSnapshot(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Id('snapshot') id: string,
    @Arg('input', { description: 'The independent dataset.' }) input: PromoteSnapshotInput,
    @Args(() => OperationArgs) { wait, progress }: OperationArgs,
  ) {
    return toDatasetCopy(await snapshots.promote(ctx, datasetId, id, input, progress, wait));
  }
}

@Resolver(() => Dataset)
export class DatasetSnapshotResolver {
  @FieldResolver(() => SnapshotPage, { description: 'Snapshots of the dataset, the latest first.' })
  snapshots(
    @Ctx() ctx: Context,
    @Root() dataset: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.childPage(Dataset, 'snapshots', dataset, info, page);
  }

  @FieldResolver(() => Dataset, { nullable: true, description: 'A snapshot of the dataset.' })
  async snapshot(
    @Ctx() ctx: Context,
    @Root() { id: parentId }: { id: string },
    @Id('snapshot') id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const snapshot = isUuid(id) ? await ctx.read.find(Dataset, { id, parentId, isSnapshot: true }, info) : null;
    if (!snapshot) throw notFound({ what: 'snapshot', id });
    return snapshot;
  }

  @FieldResolver(() => Dataset, {
    nullable: true,
    description: 'Dataset of a draft or snapshot. Null for an independent dataset.',
  })
  parent(@Root() { parent }: { parent: Dataset | null }) {
    return parent;
  }
}
