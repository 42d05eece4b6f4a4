import { Field, ID, InputType } from 'type-graphql';
import { Rule } from '../src/core/input-rules.ts';
import { ALIAS_RULE, MAX_SNAPSHOTS } from './dataset-reference-input.ts';
import { JobSnapshotTimeEnum, type JobSnapshotTime } from './job-dataset.ts';

/** Maximum number of datasets of one job. */
export const MAX_JOB_DATASETS = 100;

@InputType({ description: 'The snapshots of a dataset of a job. Replaces all previous settings.' })
export class JobSnapshotsInput {
  @Field(() => JobSnapshotTimeEnum, {
    nullable: true,
    description:
      'When each run takes a snapshot: before or after the refresh, or for the type `actions` the actions. Null: never.',
  })
  when?: JobSnapshotTime | null;

  @Rule({ maxItems: MAX_SNAPSHOTS })
  @Field(() => [ID], {
    nullable: true,
    description:
      'Ids of snapshots of the dataset, at most 50. A `snapshot-cleanup` keeps them; they change nothing else in a run.',
  })
  snapshotDatasets?: string[] | null;
}

const ALIAS =
  'Name by which the actions of the job refer to the dataset: `^[a-zA-Z0-9_][a-zA-Z0-9_-]*$`, ' +
  '1 to 150 characters, unique within the job.';
const DATASET = 'Dataset that the caller can read, by id, slug or natural id. Must not be a draft or a snapshot.';

@InputType({ description: 'Changes to a dataset of a job. Absent keys are unchanged, and null clears a value.' })
export class UpdateJobDatasetInput {
  @Rule(ALIAS_RULE)
  @Field(() => String, {
    nullable: true,
    description: `${ALIAS} A changed alias is also replaced in the actions and run conditions of the job.`,
  })
  alias?: string;

  @Rule({ notNull: true })
  @Field(() => ID, { nullable: true, description: DATASET })
  datasetId?: string;

  @Field(() => JobSnapshotsInput, {
    nullable: true,
    description:
      'Snapshots. Null for none. ' +
      'An id that is not a snapshot of the dataset is an error on create and is ignored on update.',
  })
  snapshots?: JobSnapshotsInput | null;
}

@InputType({ description: 'A new dataset of a job.' })
export class CreateJobDatasetInput extends UpdateJobDatasetInput {
  @Field(() => String, { description: ALIAS })
  override alias!: string;

  @Field(() => ID, { description: DATASET })
  override datasetId!: string;
}
