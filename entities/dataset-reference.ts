import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { Rule, textRule } from '../src/core/input-rules.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** A condition on the rows of a referenced dataset. `op` is stored as the client sent it, with or without `$`. */
interface ReferenceCondition {
  field: string;
  op: string;
  value?: unknown;
}

/** Filter of a dataset reference. Rows must match all conditions. */
export interface ReferenceFilter {
  criteria?: ReferenceCondition[];
}

/** Labels in reports. */
export const LABEL_RULE = { ...textRule(150), notNull: true };

/** A field by which readers of a report can filter. The same class is the output type and the input type. */
@ObjectType({ description: 'A field by which readers of a report can filter.' })
@InputType('ChipInput', { description: 'A field by which readers of a report can filter.' })
export class Chip {
  @Field(() => String, { description: 'Name of a field that the caller can see.' })
  field!: string;

  @Rule(LABEL_RULE)
  @Field(() => String, { description: 'Display label, 1 to 150 characters.' })
  label!: string;
}

/**
 * Selects the rows that a reference shows: current rows, snapshots, or both. Snapshots chosen by id are in the table
 * `dataset_reference_snapshot`, so that they disappear when a snapshot is deleted.
 */
export interface SnapshotSettings {
  /** Whether current rows are included. */
  includeLatest: boolean;
  /** `n`: the latest `n` snapshots. Null: the snapshots chosen by id. */
  type: 'n' | null;
  n: number;
}

/** A dataset that a report shows, under an alias (docs/contract/datasets.md#dataset-references). */
@ObjectType({
  description:
    'A dataset that a report shows: the alias that the report’s blocks use, a filter, and the snapshots to include. ' +
    'In REST its `id` is the alias; in GraphQL it is a UUID, unique among all objects.',
  implements: Node,
})
@Entity()
export class DatasetReference extends TenantRow {
  @Field(() => ID, { description: 'Id of the report.' })
  @Property({ type: 'uuid' })
  reportId!: string;

  @Field(() => ID, { description: 'Id of the dataset.' })
  @Property({ type: 'uuid' })
  datasetId!: string;

  @Field(() => String, {
    description: 'Name by which the blocks of the report refer to the dataset. Unique within the report.',
  })
  @Property({ type: 'text' })
  alias!: string;

  @Field(() => String, { description: 'Display label.' })
  @Property({ type: 'text' })
  label!: string;

  @Property({ type: 'json' })
  filter: ReferenceFilter = {};

  @Property({ type: 'json' })
  chips: Chip[] = [];

  @Property({ type: 'json', nullable: true })
  snapshots?: SnapshotSettings | null;
}
