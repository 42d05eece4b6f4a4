import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  Mutation,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { CreateJobInput, UpdateJobInput } from '../../entities/job-input.ts';
import { Job } from '../../entities/job.ts';
import { OperationStatusEnum } from '../../entities/operation.ts';
import { JOB } from '../../entities/owned-kinds.ts';
import type { Context } from '../../src/core/context.ts';
import type { OperationStatus } from '../../src/core/operations.ts';
import { Requires } from '../../src/core/read/model.ts';
import { DateTime } from '../../src/core/scalars.ts';
import { UuidField } from '../../src/core/uuid-field.ts';
import { lockOf } from '../../src/services/job/job-lock.ts';
import * as jobs from '../../src/services/job/job.ts';
import { resolveListArguments } from '../../src/services/resource/resolve-ids.ts';
import { ownedFields } from '../resource/owned.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { MAX_FLAT_LIST, OwnedPageArgs, pageOf } from '../support/page.ts';
import { loadById } from '../support/relation-fields.ts';

const JobPage = pageOf(Job, 'Job');
/** Drafts are found below their job only. */
const NO_DRAFTS = { sql: 'parent_id is null', params: [] };

export const JobOwnedFields = ownedFields(JOB);

@ArgsType()
class JobPageArgs extends OwnedPageArgs {
  @Field(() => Boolean, { nullable: true, description: 'Whether the schedule of the job starts runs.' })
  enabled?: boolean;

  @Field(() => OperationStatusEnum, {
    nullable: true,
    description: 'Status of the last run. Jobs that never ran have none.',
  })
  lastRunStatus?: OperationStatus;
}

@Resolver(() => Job)
export class JobResolver {
  @Can('authenticated')
  @Query(() => Job, { nullable: true, description: 'Returns a job or a draft.' })
  job(@Ctx() ctx: Context, @Key('job') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Job, id, info);
  }

  @Can('authenticated')
  @Query(() => JobPage, { description: 'Lists the jobs that the caller may read, without drafts.' })
  async jobs(@Ctx() ctx: Context, @Args(() => JobPageArgs) page: JobPageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Job, await resolveListArguments(ctx, page), info, NO_DRAFTS);
  }

  @Can('authenticated')
  @Query(() => [Job], {
    description: 'Lists all jobs that the caller may read, by name, without drafts. At most 10,000.',
  })
  jobsList(@Ctx() ctx: Context, @Info() info: GraphQLResolveInfo) {
    return ctx.read.list(Job, info, NO_DRAFTS, { sort: 'name' }, MAX_FLAT_LIST);
  }

  @Can('jobs:create')
  @Mutation(() => Job, { description: 'Creates a job, by default disabled. It has no actions yet.' })
  async createJob(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new job.' }) input: CreateJobInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Job, await jobs.create(ctx, input), info);
  }

  @Can('job:edit')
  @Mutation(() => Job, { description: 'Updates a job or a draft. The next run of a changed schedule is computed.' })
  async updateJob(
    @Ctx() ctx: Context,
    @Key('job') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateJobInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Job, await jobs.update(ctx, id, input), info);
  }

  @Can('job:delete')
  @Mutation(() => ID, {
    description:
      'Deletes a job with its draft and its history. Only its owner, administrators of the owning team and superusers ' +
      'may do so. Everyone who may edit the job may delete its draft. Returns the `id` argument.',
  })
  async deleteJob(@Ctx() ctx: Context, @Key('job') id: string) {
    await jobs.remove(ctx, id);
    return id;
  }

  @Requires('lockedAt', 'adminLockedAt')
  @FieldResolver(() => DateTime, {
    nullable: true,
    description:
      'Time of the lock by a superuser, which keeps the job from running; else of the request of the current run. ' +
      'Null if the job is neither locked nor running.',
  })
  lockedAt(@Root() job: Pick<Job, 'lockedAt' | 'adminLockedAt'>) {
    return lockOf(job);
  }

  @Requires('parentId')
  @UuidField()
  @FieldResolver(() => ID, { nullable: true, description: 'Job that this is the draft of; null for a job.' })
  editingId(@Root() { parentId }: Pick<Job, 'parentId'>) {
    return parentId;
  }

  @Requires('parentId')
  @FieldResolver(() => Job, { nullable: true, description: 'The job that this is the draft of; null for a job.' })
  editing(@Ctx() ctx: Context, @Root() job: { parentId: string | null }, @Info() info: GraphQLResolveInfo) {
    return loadById(ctx, Job, job.parentId, info);
  }
}
