import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Field, FieldResolver, ID, Info, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { CreateJobDatasetInput, UpdateJobDatasetInput } from '../../entities/job-dataset-input.ts';
import { JobDataset, JobSnapshotTimeEnum, type JobSnapshotTime } from '../../entities/job-dataset.ts';
import { Job } from '../../entities/job.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as jobDatasets from '../../src/services/job/job-dataset.ts';
import { ReferenceSnapshot } from '../report/dataset-reference-types.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs } from '../support/page.ts';

@ObjectType({ description: 'Snapshots of a dataset of a job.' })
export class JobSnapshots {
  @Field(() => JobSnapshotTimeEnum, {
    nullable: true,
    description:
      'When each run takes a snapshot: before or after the refresh, or for the type `actions` the actions. Null: never.',
  })
  when!: JobSnapshotTime | null;

  @Field(() => [ReferenceSnapshot], {
    description: 'Snapshots chosen by id. A `snapshot-cleanup` keeps them; they change nothing else in a run.',
  })
  snapshotDatasets!: ReferenceSnapshot[];
}

const Alias = () => Arg('alias', () => ID, { description: 'Alias of the dataset within the job.' });

@Resolver(() => Job)
export class JobDatasetsResolver {
  @FieldResolver(() => [JobDataset], {
    description: 'Datasets that the job works on, in the order in which it refreshes them.',
  })
  datasets(
    @Ctx() ctx: Context,
    @Root() job: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Job, 'datasets', job, info, page);
  }

  @FieldResolver(() => JobDataset, { nullable: true, description: 'A dataset that the job works on, by its alias.' })
  async dataset(
    @Ctx() ctx: Context,
    @Root() { id: jobId }: { id: string },
    @Alias() alias: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const found = await ctx.read.find(JobDataset, { jobId, alias }, info);
    if (!found) throw notFound({ what: 'job dataset', id: alias });
    return found;
  }
}

@Resolver(() => JobDataset)
export class JobDatasetResolver {
  @Can('job:edit')
  @Mutation(() => JobDataset, { description: 'Adds a dataset to a job, which has at most 100.' })
  async createJobDataset(
    @Ctx() ctx: Context,
    @Key('job', 'jobId') jobId: string,
    @Arg('input', { description: 'The dataset.' }) input: CreateJobDatasetInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(JobDataset, await jobDatasets.create(ctx, jobId, input), info);
  }

  @Can('job:edit')
  @Mutation(() => JobDataset, { description: 'Updates a dataset of a job.' })
  async updateJobDataset(
    @Ctx() ctx: Context,
    @Key('job', 'jobId') jobId: string,
    @Alias() alias: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateJobDatasetInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(JobDataset, await jobDatasets.update(ctx, jobId, alias, input), info);
  }

  @Can('job:edit')
  @Mutation(() => ID, {
    description:
      'Removes a dataset from a job. Fails with `CONFLICT` while actions use its alias. Returns the `alias` argument.',
  })
  async deleteJobDataset(@Ctx() ctx: Context, @Key('job', 'jobId') jobId: string, @Alias() alias: string) {
    await jobDatasets.remove(ctx, jobId, alias);
    return alias;
  }

  @Requires('snapshotTime', 'snapshotIds')
  @FieldResolver(() => JobSnapshots, { nullable: true, description: 'Snapshots. Null for none.' })
  snapshots(
    @Root() { snapshotTime, snapshotIds }: { snapshotTime: JobSnapshotTime | null; snapshotIds: string[] },
  ): JobSnapshots | null {
    if (!snapshotTime && snapshotIds.length === 0) return null;
    return { when: snapshotTime, snapshotDatasets: snapshotIds.map((datasetId) => ({ datasetId })) };
  }
}
