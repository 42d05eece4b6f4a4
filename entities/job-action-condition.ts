import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** Keys are the names in GraphQL, values are the stored words. */
export const JobActionConditionTypeEnum = {
  SUCCESS: 'success',
  FAILURE: 'failure',
  ALWAYS: 'always',
  CRITERIA: 'criteria',
} as const;
export type JobActionConditionType = (typeof JobActionConditionTypeEnum)[keyof typeof JobActionConditionTypeEnum];
registerEnumType(JobActionConditionTypeEnum, {
  name: 'JobActionConditionType',
  description: 'Type of a run condition: its requirement of the run so far.',
  valuesConfig: {
    SUCCESS: { description: 'No task of the run has failed.' },
    FAILURE: { description: 'A task of the run has failed.' },
    ALWAYS: { description: 'No requirement: the action always runs.' },
    CRITERIA: { description: 'A number of rows of a dataset that match criteria.' },
  },
});

/** See docs/contract/jobs.md#run-conditions. */
@ObjectType({
  description: 'A condition on which an action of a job runs. All conditions of an action must be met.',
  implements: Node,
})
@Entity()
export class JobActionCondition extends TenantRow {
  @Field(() => ID, { description: 'Id of the action.' })
  @Property({ type: 'uuid' })
  jobActionId!: string;

  @Field(() => JobActionConditionTypeEnum, { description: 'Type of the condition.' })
  @Enum({ items: () => Object.values(JobActionConditionTypeEnum), type: 'text' })
  type!: JobActionConditionType;

  /** Settings. Not every reader of the job sees all. */
  @Property({ type: 'json' })
  data: Record<string, unknown> = {};

  /**
   * The former owner who stored these settings, if the job has another owner since. Null for settings of the current
   * owner. See docs/contract/jobs.md#job-actions.
   */
  @Property({ type: 'text', nullable: true })
  settingsOwnerId?: string | null;

  /** The dataset that `data.datasetId` names, which cannot be deleted. */
  @Property({ type: 'uuid', nullable: true })
  datasetId?: string | null;

  /** In a draft: id of the condition that this is a copy of. Null for a new condition, and outside drafts. */
  @Property({ type: 'uuid', nullable: true })
  originalId?: string | null;
}
