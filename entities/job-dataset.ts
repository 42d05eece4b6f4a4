import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** Keys are the names in GraphQL, values are the stored words. */
export const JobSnapshotTimeEnum = { BEFORE: 'before', AFTER: 'after' } as const;
export type JobSnapshotTime = (typeof JobSnapshotTimeEnum)[keyof typeof JobSnapshotTimeEnum];
registerEnumType(JobSnapshotTimeEnum, {
  name: 'JobSnapshotTime',
  description: 'When a run takes a snapshot of a dataset.',
  valuesConfig: {
    BEFORE: { description: 'Before the refresh, or for the type `actions` before the actions.' },
    AFTER: { description: 'After the refresh, or for the type `actions` after the actions.' },
  },
});

/** A dataset that a job works on, under an alias (docs/contract/jobs.md#jobs). */
@ObjectType({
  description: 'A dataset that a job works on: the alias that its actions use, and the snapshots that each run takes.',
  implements: Node,
})
@Entity()
export class JobDataset extends TenantRow {
  @Field(() => ID, { description: 'Id of the job.' })
  @Property({ type: 'uuid' })
  jobId!: string;

  @Field(() => ID, { description: 'Id of the dataset.' })
  @Property({ type: 'uuid' })
  datasetId!: string;

  @Field(() => String, {
    description: 'Name by which the actions of the job refer to the dataset. Unique within the job.',
  })
  @Property({ type: 'text' })
  alias!: string;

  /** Position among the datasets of the job, ascending and not without gaps. Runs refresh them in this order. */
  @Property({ type: 'integer' })
  position!: number;

  /** When each run takes a snapshot. Null: never. The chosen snapshots are in the table `job_dataset_snapshot`. */
  @Enum({ items: () => Object.values(JobSnapshotTimeEnum), type: 'text', nullable: true })
  snapshotTime?: JobSnapshotTime | null;

  /** In a draft: id of the row that this is a copy of. Null for a new dataset, and outside drafts. */
  @Property({ type: 'uuid', nullable: true })
  originalId?: string | null;
}
