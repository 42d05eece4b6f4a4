import { Field, ID, InputType } from 'type-graphql';
import { optionalTextRule, Rule, textRule } from '../src/core/input-rules.ts';
import { DateTime, JsonObject } from '../src/core/scalars.ts';
import { CreateJobDatasetInput, MAX_JOB_DATASETS } from './job-dataset-input.ts';
import { JobIntervalTypeEnum, type JobIntervalType } from './job.ts';
import { MonthlyBudgetInput } from './monthly-budget.ts';
import { UpdateOwnedInput } from './owned-input.ts';

@InputType({ description: 'Changes to a job. Absent keys are unchanged, and null clears a value.' })
export class UpdateJobInput extends UpdateOwnedInput {
  @Rule(textRule(255))
  @Field(() => String, {
    nullable: true,
    description:
      'For `cron`: expression with the five fields minute, hour, day of month, month and day of week. ' +
      'For `simple`: `<n> second|minute|hour|day|week|month(s)`, at least 10 seconds. Not used for `once`.',
  })
  interval?: string | null;

  @Field(() => JobIntervalTypeEnum, {
    nullable: true,
    description: 'How the job is scheduled. Null for no schedule: it then runs on demand only.',
  })
  intervalType?: JobIntervalType | null;

  @Rule({ ...textRule(100), notNull: true })
  @Field(() => String, {
    nullable: true,
    description: 'IANA time zone of the schedule. On creation, by default the time zone of the owner, else `UTC`.',
  })
  timezone?: string;

  @Field(() => DateTime, { nullable: true, description: 'Time before which the schedule starts no run.' })
  startOn?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Time after which the schedule starts no run.' })
  endOn?: Date | null;

  @Rule({ notNull: true })
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the schedule starts runs. On creation false by default.',
  })
  enabled?: boolean;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Settings as defined by the JSON Schema of the job driver (`jobDrivers`). Replaces all previous settings; ' +
      'null clears them.',
  })
  data?: Record<string, unknown> | null;

  @Rule(optionalTextRule(10_000))
  @Field(() => String, { nullable: true, description: 'Notes, at most 10,000 characters.' })
  notes?: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description:
      'Any time other than the lock time of a run locks the job: no run starts until null unlocks it. Only superusers lock and unlock; ' +
      'any caller may send back the value that was read. A value other than null is an error on creation.',
  })
  lockedAt?: Date | null;

  @MonthlyBudgetInput()
  monthlyBudget?: number | null;
}

@InputType({ description: 'A new job.' })
export class CreateJobInput extends UpdateJobInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;

  @Rule(textRule(100))
  @Field(() => ID, {
    description:
      'Id of the job driver: `dataset-refresh` or `actions`. `email`, `library-sync`, `api-call` and `snapshot-cleanup` create ' +
      'a job of the type `actions` with one action, whose settings are `data`.',
  })
  type!: string;

  @Rule({ maxItems: MAX_JOB_DATASETS })
  @Field(() => [CreateJobDatasetInput], {
    nullable: true,
    description:
      'Datasets that the job works on, in the order in which it refreshes them; at most 100. In REST an object by alias: ' +
      '`{alias: datasetId}` or `{alias: {datasetId, snapshots}}`.',
  })
  datasets?: CreateJobDatasetInput[] | null;

  @Rule(textRule(255))
  @Field(() => String, { nullable: true, description: 'Creator of the job, as a free text. It cannot be changed.' })
  source?: string | null;

  @Rule(textRule(255))
  @Field(() => String, {
    nullable: true,
    description: 'Id of the resource that created the job. It cannot be changed.',
  })
  sourceId?: string | null;
}
