import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

@ObjectType({ description: 'The file that is kept with an action.' })
export class JobActionFile {
  @Field(() => String, { description: 'Name of the file.' })
  filename!: string;

  @Field(() => String, { description: 'Media type.' })
  contentType!: string;

  @Field(() => Float, { description: 'Size in bytes.' })
  size!: number;
}

/** See docs/contract/jobs.md#job-actions. */
@ObjectType({ description: 'A step of a job.', implements: Node })
@Entity()
export class JobAction extends TenantRow {
  @Field(() => ID, { description: 'Id of the job.' })
  @Property({ type: 'uuid' })
  jobId!: string;

  @Field(() => String, { description: 'Id of the action driver, e.g. `email`. It cannot be changed.' })
  @Property({ type: 'text' })
  type!: string;

  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => Int, { description: 'Position among the actions of the job, from 0 without gaps.' })
  @Property({ type: 'integer', fieldName: 'position' })
  order!: number;

  /** Settings. Not every reader of the job sees all. */
  @Property({ type: 'json' })
  data: Record<string, unknown> = {};

  /**
   * The former owner who stored these settings, if the job has another owner since. Null for settings of the current
   * owner. See docs/contract/jobs.md#job-actions.
   */
  @Property({ type: 'text', nullable: true })
  settingsOwnerId?: string | null;

  /** The secrets of `data` as encrypted JSON: values by their path. Null if there are none. No API returns them. */
  @Property({ type: 'text', nullable: true, lazy: true })
  secrets?: string | null;

  /** The dataset that `data.datasetId` names, which cannot be deleted. */
  @Property({ type: 'uuid', nullable: true })
  datasetId?: string | null;

  /** The template that `data.templateId` names, which cannot be deleted. */
  @Property({ type: 'uuid', nullable: true })
  templateId?: string | null;

  /** The library that `data.libraryId` names, which cannot be deleted. */
  @Property({ type: 'uuid', nullable: true })
  libraryId?: string | null;

  /** Id of the stored file that is kept with the action. Null if there is none. */
  @Property({ type: 'uuid', nullable: true })
  fileId?: string | null;

  /** Id of the dataset whose rows the file has. Null for a file that was uploaded. The dataset may be deleted. */
  @Property({ type: 'uuid', nullable: true })
  exportedDatasetId?: string | null;

  /** In a draft: id of the action that this is a copy of. Null for a new action, and outside drafts. */
  @Property({ type: 'uuid', nullable: true })
  originalId?: string | null;

  /** In a draft: id of the file that the original had when the draft was created. That file may be gone. */
  @Property({ type: 'uuid', nullable: true })
  originalFileId?: string | null;
}
