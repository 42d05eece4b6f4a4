import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { Dataset } from '../../entities/dataset.ts';
import { CreateJobActionInput, UpdateJobActionInput } from '../../entities/job-action-input.ts';
import { JobAction } from '../../entities/job-action.ts';
import { Job } from '../../entities/job.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { Rule } from '../../src/core/input-rules.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { USED_DATASET_COLUMNS, visibleSettings } from '../../src/services/job/hidden-settings.ts';
import { preview } from '../../src/services/job/job-action-preview.ts';
import * as actions from '../../src/services/job/job-action.ts';
import { Id, Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs } from '../support/page.ts';

@Resolver(() => Job)
export class JobActionsResolver {
  @FieldResolver(() => [JobAction], { description: 'Actions, in the order in which a run executes them.' })
  actions(
    @Ctx() ctx: Context,
    @Root() job: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Job, 'actions', job, info, page);
  }

  @FieldResolver(() => JobAction, { nullable: true, description: 'An action, by its id.' })
  async action(
    @Ctx() ctx: Context,
    @Root() { id: jobId }: { id: string },
    @Id('action', 'jobActionId') id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const action = await ctx.read.find(JobAction, { id, jobId }, info);
    if (!action) throw notFound({ what: 'job action', id });
    return action;
  }
}

@ObjectType({ description: 'Preview of a run of an action.' })
export class JobActionPreview {
  @Field(() => JsonObject, { description: 'Its keys depend on the type of the action.' })
  preview!: Record<string, unknown>;
}

@Resolver(() => JobAction)
export class JobActionResolver {
  @Requires('data', 'settingsOwnerId', 'job.ownerId', ...USED_DATASET_COLUMNS)
  @FieldResolver(() => JsonObject, {
    description:
      'Settings as defined by the JSON Schema of the action driver. Secrets are shown as `••••`. `filter` and `params` ' +
      'are absent for callers who neither own the job nor may read the whole dataset.',
  })
  data(@Ctx() ctx: Context, @Root() action: JobAction & { job: Job; usedDataset: Dataset | null }) {
    return visibleSettings(ctx, action);
  }

  @Can('authenticated')
  @Query(() => JobActionPreview, {
    description:
      'Previews a run of an action, e.g. its recipients and rows, as far as the caller may read them. ' +
      'Changes and sends nothing.',
  })
  async jobActionPreview(
    @Ctx() ctx: Context,
    @Key('job', 'jobId') jobId: string,
    @Id('action', 'jobActionId') id: string,
  ): Promise<JobActionPreview> {
    return { preview: await preview(ctx, jobId, id) };
  }

  @Can('job:edit')
  @Mutation(() => JobAction, { description: 'Adds an action to the end of a job, which has at most 100.' })
  async createJobAction(
    @Ctx() ctx: Context,
    @Key('job', 'jobId') jobId: string,
    @Arg('input', { description: 'The new action.' }) input: CreateJobActionInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(JobAction, await actions.create(ctx, jobId, input), info);
  }

  @Can('job:edit')
  @Mutation(() => JobAction, { description: 'Updates an action of a job.' })
  async updateJobAction(
    @Ctx() ctx: Context,
    @Key('job', 'jobId') jobId: string,
    @Id('action', 'jobActionId') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateJobActionInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(JobAction, await actions.update(ctx, jobId, id, input), info);
  }

  @Can('job:edit')
  @Mutation(() => ID, {
    description:
      'Deletes an action with its run conditions and its file. Fails with `CONFLICT` while other actions attach the ' +
      'file. Returns the `jobActionId` argument.',
  })
  async deleteJobAction(
    @Ctx() ctx: Context,
    @Key('job', 'jobId') jobId: string,
    @Id('action', 'jobActionId') id: string,
  ) {
    await actions.remove(ctx, jobId, id);
    return id;
  }

  @Can('job:edit')
  @Mutation(() => [JobAction], {
    description: 'Puts the actions of a job in another order. Returns them in that order.',
  })
  async setJobActionOrder(
    @Ctx() ctx: Context,
    @Key('job', 'jobId') jobId: string,
    @Arg('actions', () => [ID], { description: 'Ids of all actions of the job, in the new order.' })
    @Rule({ maxItems: 1000 })
    ids: string[],
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.list(JobAction, info, { jobId: await actions.reorder(ctx, jobId, ids) }, page);
  }
}
