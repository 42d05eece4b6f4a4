import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  Float,
  ID,
  Info,
  Int,
  Mutation,
  ObjectType,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import { JobHistoryEntry, JobRun, JobRunResult } from '../../entities/job-run.ts';
import { Job } from '../../entities/job.ts';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { levelAllows } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import { run } from '../../src/services/job/job-run-start.ts';
import * as runs from '../../src/services/job/job-run.ts';
import { accessLevel, type AccessColumns } from '../../src/services/resource/access-level.ts';
import { OperationArgs, toPayload } from '../operation/operation-arguments.ts';
import { Id, Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs } from '../support/page.ts';

@ObjectType({ description: 'A run of a job: the operation, and its result.' })
class JobRunPayload {
  @Field(() => Operation, { description: 'The operation.' }) operation!: Operation;
  @Field(() => JobRunResult, { nullable: true, description: 'The result. Null while the operation runs.' })
  result!: JobRunResult | null;
}

@ObjectType({ description: 'Progress of a run. Null for a run that ended more than a week ago.' })
class JobRunProgress {
  @Field(() => Float, { nullable: true, description: 'Percentage, 100 after a success.' }) percent!: number | null;
  @Field(() => Float, { description: 'Number of tasks that have ended or were left out.' }) current!: number;
  @Field(() => Float, { nullable: true, description: 'Number of tasks.' }) total!: number | null;
  @Field(() => String, { nullable: true, description: 'Name of the current task.' }) message!: string | null;
}

@Resolver(() => Job)
export class JobRunsResolver {
  @FieldResolver(() => [JobRun], { description: 'Runs, latest first: the history of the job.' })
  runs(
    @Ctx() ctx: Context,
    @Root() job: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Job, 'runs', job, info, page);
  }

  @FieldResolver(() => JobRun, { nullable: true, description: 'A run, by its id.' })
  async run(
    @Ctx() ctx: Context,
    @Root() { id: jobId }: { id: string },
    @Id('run', 'runId') id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const found = await ctx.read.find(JobRun, { id, jobId }, info);
    if (!found) throw notFound({ what: 'job run', id });
    return found;
  }
}

/** Columns that decide whether the viewer may run the job of a run. */
const JOB_ACCESS = ['jobId', 'job.ownerId', 'job.parent.id', 'job.parent.ownerId'] as const;
interface RunOfJob {
  jobId: string;
  job: Pick<AccessColumns, 'ownerId' | 'parent'>;
}

/** Returns whether the viewer may run the job, and so see why its runs failed. */
const maySeeErrors = async (ctx: Context, { jobId, job }: RunOfJob): Promise<boolean> =>
  levelAllows(await accessLevel(ctx, { id: jobId, ...job }), 'job:run');

@Resolver(() => JobRun)
export class JobRunResolver {
  @Can('job:run')
  @Mutation(() => JobRunPayload, {
    description:
      'Runs a job or a draft now, even a disabled one, with the rights of its owner. A failed task fails the run and ' +
      'not the call. Fails with `CONFLICT` while the job runs.',
  })
  async runJob(
    @Ctx() ctx: Context,
    @Key('job') id: string,
    @Args(() => OperationArgs) { wait, progress }: OperationArgs,
  ) {
    return toPayload(await run(ctx, id, progress, wait));
  }

  @Can('job:run')
  @Mutation(() => JobRunPayload, {
    description:
      'Continues a failed or cancelled run of a job in a new run. The results of the tasks before `from` are kept. ' +
      'Fails with `CONFLICT` while the job runs, and for a run that succeeded.',
  })
  async retryJobRun(
    @Ctx() ctx: Context,
    @Key('job', 'jobId') jobId: string,
    @Id('run', 'runId') runId: string,
    @Args(() => OperationArgs) { wait, progress }: OperationArgs,
    @Arg('from', () => String, {
      nullable: true,
      description: 'Id of an action, or the key of a task of the run. Default: the first task that failed.',
    })
    from?: string | null,
  ) {
    return toPayload(await runs.retry(ctx, jobId, runId, from, progress, wait));
  }

  @Can('job:run')
  @Mutation(() => JobRun, {
    description:
      'Cancels a run of a job, including runs of other users and of the schedule, with its current task. ' +
      'Fails with `CONFLICT` if it has ended.',
  })
  async cancelJobRun(
    @Ctx() ctx: Context,
    @Key('job', 'jobId') jobId: string,
    @Id('run', 'runId') runId: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(JobRun, await runs.cancel(ctx, jobId, runId), info);
  }

  @Can('authenticated')
  @Subscription(() => JobRun, {
    description:
      'Sends a run of a job, then again after every change of its state, tasks and progress, at most ten times a ' +
      'second. Completes after the final state. Fails with `NOT_FOUND` for a job that has not run.',
    subscribe: ({ args, context }) => {
      const { jobId, runId } = args as { jobId: string; runId?: string | null };
      return runs.follow(context as Context, jobId, runId);
    },
  })
  async jobRun(
    @Ctx() ctx: Context,
    @Root() followed: runs.FollowedRun,
    @Key('job', 'jobId') _jobId: string,
    @Arg('runId', () => ID, {
      nullable: true,
      description: 'Id of the run. Default: the unfinished run of the job, else the latest one.',
    })
    _runId: string | null | undefined,
    @Info() info: GraphQLResolveInfo,
  ) {
    const run = await ctx.read.one(JobRun, followed.id, info);
    runs.recordSent(followed, run);
    return run;
  }

  @Requires('history', 'logs', ...JOB_ACCESS)
  @FieldResolver(() => [JobHistoryEntry], { description: 'Tasks that have ended, in the order in which they ran.' })
  async history(
    @Ctx() ctx: Context,
    @Root() { history, logs, ...run }: Pick<JobRun, 'history' | 'logs'> & RunOfJob,
  ): Promise<JobHistoryEntry[]> {
    const showsErrors = await maySeeErrors(ctx, run);
    return history.map(({ task, result }) => ({
      task,
      result: {
        ...result,
        error: showsErrors ? result.error : null,
        log: showsErrors ? (logs[task.key] ?? '') : null,
      },
    }));
  }

  @Requires('error', ...JOB_ACCESS)
  @FieldResolver(() => String, {
    nullable: true,
    description:
      'Why the run failed or was cancelled: of several failures the first. Null for a run that succeeded or has not ' +
      'ended, and for callers without the permission `job:run`.',
  })
  async error(@Ctx() ctx: Context, @Root() { error, ...run }: Pick<JobRun, 'error'> & RunOfJob) {
    return error && (await maySeeErrors(ctx, run)) ? error : null;
  }

  @Requires('operation.percent', 'operation.current', 'operation.total', 'operation.message', 'operation.sequence')
  @FieldResolver(() => JobRunProgress, { nullable: true, description: 'Progress of the run.' })
  progress(@Root() { operation }: { operation: JobRunProgress | null }): JobRunProgress | null {
    return operation;
  }

  @Requires('version', 'operation.sequence')
  @FieldResolver(() => Int, {
    description: 'Number of changes of the run and its progress. It only increases while the run is unfinished.',
  })
  sequence(@Root() { version, operation }: { version: number; operation: { sequence: number } | null }): number {
    return version + (operation?.sequence ?? 0);
  }
}
