import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime, JsonObject } from '../src/core/scalars.ts';
import { MonthlyBudget } from './monthly-budget.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';

/** Keys are the names in GraphQL, values are the stored words. */
export const JobIntervalTypeEnum = { CRON: 'cron', SIMPLE: 'simple', ONCE: 'once' } as const;
export type JobIntervalType = (typeof JobIntervalTypeEnum)[keyof typeof JobIntervalTypeEnum];
registerEnumType(JobIntervalTypeEnum, {
  name: 'JobIntervalType',
  description: 'How a job is scheduled.',
  valuesConfig: {
    CRON: { description: 'At the times of a cron expression of five fields, in the time zone of the job.' },
    SIMPLE: { description: 'Repeatedly after a fixed time, e.g. `15 minutes`.' },
    ONCE: { description: 'Once, at `startOn`.' },
  },
});

/** Ordered actions that run on a schedule or on demand; also the draft of a job. See docs/contract/jobs.md#jobs. */
@ObjectType({ description: 'Ordered actions that run on a schedule or on demand.', implements: Node })
@Entity()
export class Job extends OwnedRow {
  @Field(() => String, { description: 'Id of the job driver, e.g. `dataset-refresh`. It cannot be changed.' })
  @Property({ type: 'text' })
  type!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Cron expression, or simple interval such as `15 minutes`. Null without a schedule, and for `once`.',
  })
  @Property({ type: 'text', nullable: true })
  interval?: string | null;

  @Field(() => JobIntervalTypeEnum, { nullable: true, description: 'How it is scheduled. Null without a schedule.' })
  @Enum({ items: () => Object.values(JobIntervalTypeEnum), type: 'text', nullable: true })
  intervalType?: JobIntervalType | null;

  @Field(() => String, { description: 'IANA time zone of the schedule, e.g. `Europe/Berlin`.' })
  @Property({ type: 'text' })
  timezone!: string;

  @Field(() => Boolean, { description: 'Whether the schedule starts runs. A disabled job runs on demand only.' })
  @Property({ type: 'boolean' })
  enabled: boolean = false;

  @Field(() => Boolean, {
    description:
      'Whether its owner has accepted it. A job that another user gave to its owner is not: it runs after the owner has ' +
      'run or enabled it.',
  })
  @Property({ type: 'boolean' })
  accepted: boolean = true;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Time of the next scheduled run. Null if the job is disabled or its schedule has ended.',
  })
  @Property({ type: 'timestamptz', nullable: true })
  nextRunAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Time before which the schedule starts no run.' })
  @Property({ type: 'timestamptz', nullable: true })
  startOn?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Time after which the schedule starts no run.' })
  @Property({ type: 'timestamptz', nullable: true })
  endOn?: Date | null;

  /** Time when the schedule was last saved, from which a simple interval without `startOn` counts. */
  @Property({ type: 'timestamptz' })
  scheduledAt: Date = new Date();

  /** Time of the request of the run that the job is locked for. Null while no run is unfinished. */
  @Property({ type: 'timestamptz', nullable: true })
  lockedAt?: Date | null;

  /** Time of the lock by a superuser, which only a superuser lifts. See docs/contract/jobs.md#jobs. */
  @Property({ type: 'timestamptz', nullable: true })
  adminLockedAt?: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Time of the last heartbeat of the current run. Null while the job does not run.',
  })
  @Property({ type: 'timestamptz', nullable: true })
  heartbeat?: Date | null;

  @Field(() => JsonObject, { description: 'Settings as defined by the JSON Schema of the job driver.' })
  @Property({ type: 'json' })
  data: Record<string, unknown> = {};

  @Field(() => String, { nullable: true, description: 'Notes of the editors of the job.' })
  @Property({ type: 'text', nullable: true })
  notes?: string | null;

  @Field(() => String, { nullable: true, description: 'Creator of the job, as a free text. Set on creation.' })
  @Property({ type: 'text', nullable: true })
  source?: string | null;

  @Field(() => String, { nullable: true, description: 'Id of the resource that created the job. Set on creation.' })
  @Property({ type: 'text', nullable: true })
  sourceId?: string | null;

  @MonthlyBudget()
  monthlyBudget?: number | null;

  /** Id of the job that this is the draft of. Null unless this is a draft. */
  @Property({ type: 'uuid', nullable: true })
  parentId?: string | null;
}
