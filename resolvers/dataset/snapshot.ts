import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Field, FieldResolver, ID, Info, InputType, Mutation, Resolver, Root } from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { isUuid } from '../../src/core/id.ts';
import * as snapshots from '../../src/services/dataset/snapshot.ts';
import { OperationArgs, parseProgress } from '../operation/operation-arguments.ts';
import { ChildPageArgs } from '../resource/activity.ts';
import { Id, Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { pageOf } from '../support/page.ts';
import { DatasetCopy, toDatasetCopy } from './dataset-copy.ts';

const SnapshotPage = pageOf(Dataset, 'Snapshot');

/** Changes of a snapshot. */
@InputType({ description: 'Changes of a snapshot. Absent keys stay as they are, null clears.' })
export class UpdateSnapshotInput {
  @Field(() => String, { nullable: true, description: 'Display name.' })
  name?: string;

  @Field(() => String, { nullable: true, description: 'What it is for.' })
  description?: string | null;
}

/** A new snapshot. */
@InputType({ description: 'A new snapshot.' })
export class CreateSnapshotInput extends UpdateSnapshotInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;
}

/** A snapshot that becomes an independent dataset. */
@InputType({ description: 'What a snapshot becomes as an independent dataset.' })
export class PromoteSnapshotInput extends CreateSnapshotInput {
  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether the snapshot stays and another dataset is made of it; otherwise, by default, it is one itself from then on, with the same id.',
  })
  preserveSnapshot?: boolean | null;
}

@Resolver()
export class SnapshotResolver {
  @Can('dataset:copy')
  @Mutation(() => DatasetCopy, {
    description:
      'Keeps a dataset’s rows as they are now: a child of it that the caller owns, and who reads the dataset reads.',
  })
  async createSnapshot(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Arg('input', { description: 'The new snapshot.' }) input: CreateSnapshotInput,
    @Args(() => OperationArgs) { wait, progress }: OperationArgs,
  ) {
    return toDatasetCopy(await snapshots.create(ctx, datasetId, input, parseProgress(progress), wait));
  }

  @Can('dataset:write')
  @Mutation(() => Dataset, { description: 'Changes what a snapshot is called.' })
  async updateSnapshot(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Id('snapshot') id: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateSnapshotInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Dataset, await snapshots.update(ctx, datasetId, id, input), info);
  }

  @Can('dataset:write')
  @Mutation(() => ID, { description: 'Deletes a snapshot with its rows; answers its id as given.' })
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
      'Makes an independent dataset of the caller’s of a snapshot. Unless the snapshot stays beside it, this takes the permission to write it too.',
  })
  async promoteSnapshot(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Id('snapshot') id: string,
    @Arg('input', { description: 'What it becomes.' }) input: PromoteSnapshotInput,
    @Args(() => OperationArgs) { wait, progress }: OperationArgs,
  ) {
    return toDatasetCopy(await snapshots.promote(ctx, datasetId, id, input, parseProgress(progress), wait));
  }
}

@Resolver(() => Dataset)
export class DatasetSnapshotFields {
  @FieldResolver(() => SnapshotPage, { description: 'Its snapshots, the latest first.' })
  snapshots(
    @Ctx() ctx: Context,
    @Root() dataset: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.childPage(Dataset, 'snapshots', dataset, info, page);
  }

  @FieldResolver(() => Dataset, { description: 'One of its snapshots.' })
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
    description: 'The dataset it is a draft or snapshot of; null when independent.',
  })
  parent(@Root() { parent }: { parent: Dataset | null }) {
    return parent;
  }
}
