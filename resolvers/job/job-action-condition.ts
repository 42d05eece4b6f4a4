import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Resolver, Root } from 'type-graphql';
import type { Dataset } from '../../entities/dataset.ts';
import { JobActionCondition } from '../../entities/job-action-condition.ts';
import { CreateJobActionConditionInput, UpdateJobActionConditionInput } from '../../entities/job-action-input.ts';
import { JobAction } from '../../entities/job-action.ts';
import type { Job } from '../../entities/job.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { USED_DATASET_COLUMNS, visibleSettings } from '../../src/services/job/hidden-settings.ts';
import * as conditions from '../../src/services/job/job-action-condition.ts';
import { Id, Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs } from '../support/page.ts';

/** Columns that decide whether a viewer sees all settings. */
interface ConditionRelations {
  jobAction: { job: Job };
  usedDataset: Dataset | null;
}

const ConditionId = () => Id('run condition', 'jobActionRunConditionId');

@Resolver(() => JobAction)
export class JobActionConditionsResolver {
  @FieldResolver(() => [JobActionCondition], {
    description: 'Run conditions. All of them must be met. Without one the action runs if nothing has failed.',
  })
  conditions(
    @Ctx() ctx: Context,
    @Root() action: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(JobAction, 'conditions', action, info, page);
  }

  @FieldResolver(() => JobActionCondition, { nullable: true, description: 'A run condition, by its id.' })
  async condition(
    @Ctx() ctx: Context,
    @Root() { id: jobActionId }: { id: string },
    @ConditionId() id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const condition = await ctx.read.find(JobActionCondition, { id, jobActionId }, info);
    if (!condition) throw notFound({ what: 'job action run condition', id });
    return condition;
  }
}

@Resolver(() => JobActionCondition)
export class JobActionConditionResolver {
  @Requires('data', 'settingsOwnerId', 'jobAction.job.ownerId', ...USED_DATASET_COLUMNS)
  @FieldResolver(() => JsonObject, {
    description:
      'For `criteria`: `{alias | datasetId, criteria, op, count}`. Otherwise empty. `criteria` is absent for callers who ' +
      'neither own the job nor may read the whole dataset.',
  })
  data(
    @Ctx() ctx: Context,
    @Root() { data, settingsOwnerId, jobAction: { job }, usedDataset }: JobActionCondition & ConditionRelations,
  ) {
    return visibleSettings(ctx, { data, settingsOwnerId, job, usedDataset });
  }

  @Can('job:edit')
  @Mutation(() => JobActionCondition, {
    description: 'Adds a run condition to an action of a job. An action has at most 20.',
  })
  async createJobActionCondition(
    @Ctx() ctx: Context,
    @Key('job', 'jobId') jobId: string,
    @Id('action', 'jobActionId') actionId: string,
    @Arg('input', { description: 'The new condition.' }) input: CreateJobActionConditionInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(JobActionCondition, await conditions.create(ctx, jobId, actionId, input), info);
  }

  @Can('job:edit')
  @Mutation(() => JobActionCondition, { description: 'Updates a run condition of an action of a job.' })
  async updateJobActionCondition(
    @Ctx() ctx: Context,
    @Key('job', 'jobId') jobId: string,
    @Id('action', 'jobActionId') actionId: string,
    @ConditionId() id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateJobActionConditionInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(JobActionCondition, await conditions.update(ctx, jobId, actionId, id, input), info);
  }

  @Can('job:edit')
  @Mutation(() => ID, {
    description: 'Deletes a run condition of an action of a job. Returns the `jobActionRunConditionId` argument.',
  })
  async deleteJobActionCondition(
    @Ctx() ctx: Context,
    @Key('job', 'jobId') jobId: string,
    @Id('action', 'jobActionId') actionId: string,
    @ConditionId() id: string,
  ) {
    await conditions.remove(ctx, jobId, actionId, id);
    return id;
  }
}
