import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { TenantRow } from './tenant-row.ts';

/** A condition on the rows of a dataset in a report; `op` as clients spell it, with or without `$`. */
export interface ReferenceCondition {
  field: string;
  op: string;
  value?: unknown;
}

/** Which rows of its dataset a reference shows. All conditions must hold. */
export interface ReferenceFilter {
  criteria?: ReferenceCondition[];
}

/** A field that readers of a report may filter by. */
export interface Chip {
  field: string;
  label: string;
}

/** Which moments of its dataset a reference shows. The snapshots that were chosen one by one are a table of their own, so that they go with the snapshots. */
export interface SnapshotSettings {
  /** The current rows too. */
  includeLatest: boolean;
  /** `n`: the latest `n` snapshots; null: those that were chosen. */
  type: 'n' | null;
  n: number;
}

/** That a report shows a dataset, and under which name (specification, "Dataset reference"). */
@ObjectType({
  description: 'That a report shows a dataset: the name that its blocks call it by, which rows, and of which moments.',
})
@Entity()
export class DatasetReference extends TenantRow {
  @Field(() => ID, { description: 'The report.' })
  @Property({ type: 'uuid' })
  reportId!: string;

  @Field(() => ID, { description: 'The dataset.' })
  @Property({ type: 'uuid' })
  datasetId!: string;

  @Field(() => String, { description: 'What the blocks of the report call the dataset; unique in the report.' })
  @Property({ type: 'text' })
  alias!: string;

  @Field(() => String, { description: 'What people call it.' })
  @Property({ type: 'text' })
  label!: string;

  @Property({ type: 'json' })
  filter: ReferenceFilter = {};

  @Property({ type: 'json' })
  chips: Chip[] = [];

  @Property({ type: 'json', nullable: true })
  snapshots?: SnapshotSettings | null;
}
