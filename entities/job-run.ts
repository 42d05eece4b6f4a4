import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { OPERATION_STATUSES, type OperationStatus } from '../src/core/operations.ts';
import { DateTime } from '../src/core/scalars.ts';
import { UuidField } from '../src/core/uuid-field.ts';
import { WholeNumber } from '../src/core/whole-number.ts';
import { Node } from './node.ts';
import { OperationStatusEnum } from './operation.ts';
import { TenantRow } from './tenant-row.ts';

const JobTriggerEnum = {
  MANUAL: 'manual',
  SCHEDULE: 'schedule',
  CATCH_UP: 'catch-up',
  RETRY: 'retry',
} as const;
export type JobTrigger = (typeof JobTriggerEnum)[keyof typeof JobTriggerEnum];
registerEnumType(JobTriggerEnum, {
  name: 'JobTrigger',
  description: 'Cause of a run of a job.',
  valuesConfig: {
    MANUAL: { description: 'A user.' },
    SCHEDULE: { description: 'The schedule, at its time.' },
    CATCH_UP: {
      description:
        'The schedule, more than a minute late: for the times at which no process of the service was running.',
    },
    RETRY: { description: 'A user, to continue a failed or cancelled run.' },
  },
});

@ObjectType({ description: 'Task of a run: a dataset of the job or an action.' })
export class JobTask {
  @Field(() => String, { description: '`dataset:<alias>` or `action:<id>`.' })
  key!: string;
}

@ObjectType({ description: 'Result of a task.' })
export class JobTaskResult {
  @Field(() => String, { description: 'The key of the task.' })
  key!: string;

  @Field(() => Boolean, { description: 'Whether the task succeeded.' })
  success!: boolean;

  @Field(() => DateTime, { nullable: true, description: 'Start of the task.' })
  startedAt?: string | null;

  @WholeNumber()
  @Field(() => Float, { nullable: true, description: 'Duration in milliseconds, with all attempts.' })
  duration?: number | null;

  @Field(() => Int, { nullable: true, description: 'Number of attempts.' })
  attempts?: number | null;

  @Field(() => String, {
    nullable: true,
    description: 'Why the last attempt failed. Null for a success, and for callers without the permission `job:run`.',
  })
  error?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Log of the task, at most 64 KB. Null for callers without the permission `job:run`.',
  })
  log?: string | null;
}

@ObjectType({ description: 'A task of a run with its result.' })
export class JobHistoryEntry {
  @Field(() => JobTask, { description: 'The task.' })
  task!: JobTask;

  @Field(() => JobTaskResult, { description: 'Its result.' })
  result!: JobTaskResult;
}

/** The truth about a run is this row, not the queue. See docs/contract/jobs.md#jobs. */
@ObjectType({ description: 'A run of a job.', implements: Node })
@Entity()
export class JobRun extends TenantRow {
  @Field(() => ID, { description: 'Id of the job.' })
  @Property({ type: 'uuid' })
  jobId!: string;

  @Field(() => JobTriggerEnum, { description: 'Cause of the run.' })
  @Enum({ items: () => Object.values(JobTriggerEnum), type: 'text' })
  trigger!: JobTrigger;

  @Field(() => OperationStatusEnum, { description: 'Current state.' })
  @Enum({ items: () => [...OPERATION_STATUSES], type: 'text' })
  status: OperationStatus = 'queued';

  @Field(() => Boolean, { nullable: true, description: 'Whether every task succeeded. Null before the end.' })
  @Property({ type: 'boolean', nullable: true })
  success?: boolean | null;

  @Field(() => DateTime, { nullable: true, description: 'Start. Null while the run waits.' })
  @Property({ type: 'timestamptz', nullable: true })
  startedAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'End. Null before it.' })
  @Property({ type: 'timestamptz', nullable: true })
  finishedAt?: Date | null;

  @WholeNumber()
  @Field(() => Float, {
    nullable: true,
    description: 'Duration in milliseconds. Null before the end, and for a run that never started.',
  })
  @Property({ type: 'double', nullable: true })
  duration?: number | null;

  /** Without errors and logs: see `JobRunResolver`. */
  @Property({ type: 'json' })
  history: JobHistoryEntry[] = [];

  @Property({ type: 'text', nullable: true })
  error?: string | null;

  /** Logs by the keys of tasks. */
  @Property({ type: 'json' })
  logs: Record<string, string> = {};

  @Field(() => DateTime, {
    nullable: true,
    description: 'Time at which the schedule required the run. Null for a run that a user started.',
  })
  @Property({ type: 'timestamptz', nullable: true })
  dueAt?: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description:
      'Time of the next attempt of a task that failed. Until then the run waits and occupies no place of a worker. ' +
      'Null for a run that does not wait for an attempt.',
  })
  @Property({ type: 'timestamptz', nullable: true })
  nextAttemptAt?: Date | null;

  @Field(() => Boolean, { description: 'Whether the draft of the job ran.' })
  @Property({ type: 'boolean' })
  isDraft: boolean = false;

  @Field(() => ID, {
    nullable: true,
    description: 'Id of the user who started it. Null for a run of the schedule and for a deleted user.',
  })
  @Property({ type: 'uuid', nullable: true })
  userId?: string | null;

  @Field(() => ID, {
    nullable: true,
    description:
      'Id of the failed or cancelled run that this one continues. Null for any other, and if that is deleted.',
  })
  @Property({ type: 'uuid', nullable: true })
  retryOfId?: string | null;

  /** The operation that executes it. */
  @Property({ type: 'uuid', nullable: true })
  operationId?: string | null;
}

@ObjectType({ description: 'Whether a task of a run succeeded. Its error and log are in the history of the job.' })
export class JobTaskOutcome {
  @Field(() => String, { description: 'The key of the task.' })
  key!: string;

  @Field(() => Boolean, { description: 'Whether the task succeeded.' })
  success!: boolean;
}

@ObjectType({ description: 'A task of a run, and whether it succeeded.' })
export class JobRunResultEntry {
  @Field(() => JobTask, { description: 'The task.' })
  task!: JobTask;

  @Field(() => JobTaskOutcome, { description: 'Whether it succeeded.' })
  result!: JobTaskOutcome;
}

@ObjectType({ description: 'Result of a run of a job.' })
export class JobRunResult {
  @UuidField()
  @Field(() => ID, { description: 'Id of the run.' })
  runId!: string;

  @Field(() => Boolean, { description: 'Whether every task succeeded.' })
  success!: boolean;

  @WholeNumber()
  @Field(() => Float, { description: 'Duration in milliseconds.' })
  duration!: number;

  @Field(() => [JobRunResultEntry], { description: 'Tasks in the order in which they ran.' })
  history!: JobRunResultEntry[];
}
