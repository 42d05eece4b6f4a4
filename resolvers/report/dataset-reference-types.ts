import { Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { Chip, SnapshotSettings } from '../../entities/dataset-reference.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import type { SnapshotsInput } from '../../src/services/report/dataset-reference-checks.ts';
import type { DatasetReferenceInput } from '../../src/services/report/dataset-reference.ts';

/** TypeGraphQL wants an object: the key is GraphQL's word, the value the specification's. */
export const SnapshotChoiceEnum = { N: 'n' } as const;
registerEnumType(SnapshotChoiceEnum, {
  name: 'SnapshotChoice',
  description: 'How snapshots are chosen, where they are not named.',
  valuesConfig: { N: { description: 'The latest `n`.' } },
});

/** A field that readers of a report may filter by. */
@ObjectType('Chip', { description: 'A field that readers of a report may filter by.' })
export class ChipType implements Chip {
  @Field(() => String, { description: 'Name of the field.' }) field!: string;
  @Field(() => String, { description: 'What people call it.' }) label!: string;
}

/** The same, given. */
@InputType({ description: 'A field that readers of a report may filter by.' })
export class ChipInput implements Chip {
  @Field(() => String, { description: 'Name of a field that the caller sees.' }) field!: string;
  @Field(() => String, { description: 'What people call it, 1 to 150 characters.' }) label!: string;
}

/** A snapshot that a reference names. */
@ObjectType({ description: 'A snapshot that a dataset reference names.' })
export class ReferenceSnapshot {
  @Field(() => ID, { description: 'Id of the snapshot.' }) datasetId!: string;
}

/** Which moments of its dataset a reference shows. */
@ObjectType('ReferenceSnapshots', { description: 'Which moments of its dataset a reference shows.' })
export class ReferenceSnapshotsType implements SnapshotSettings {
  @Field(() => Boolean, { description: 'Whether it shows the current rows too.' }) includeLatest!: boolean;
  @Field(() => SnapshotChoiceEnum, {
    nullable: true,
    description: '`n`: the latest `n` snapshots by date. Null: those that are named.',
  })
  type!: SnapshotSettings['type'];
  @Field(() => Int, { description: 'How many of the latest, where `type` is `n`.' }) n!: number;
  @Field(() => [ReferenceSnapshot], {
    description: 'The snapshots that are named; where `type` is `n` they are not shown.',
  })
  snapshotDatasets!: ReferenceSnapshot[];
}

/** The same, given. */
@InputType({
  description: 'Which moments of its dataset a reference shows. Replaces the former; absent keys have their defaults.',
})
export class ReferenceSnapshotsInput implements SnapshotsInput {
  @Field(() => Boolean, { nullable: true, description: 'Whether it shows the current rows too. Default true.' })
  includeLatest?: boolean;

  @Field(() => SnapshotChoiceEnum, {
    nullable: true,
    description: '`n`: the latest `n` snapshots by date. Null: those that are named.',
  })
  type?: SnapshotSettings['type'];

  @Field(() => Int, { nullable: true, description: 'How many of the latest, where `type` is `n`, 1 to 50. Default 1.' })
  n?: number;

  @Field(() => [ID], { nullable: true, description: 'Ids of snapshots of the dataset, at most 50.' })
  snapshotDatasets?: string[];
}

const FILTER =
  'Which rows: `{"criteria": [{"field", "op", "value"}]}`, all of which must hold; `op` is one of eq, ne, gt, gte, lt, lte, in, nin, regex, exists, with or without `$`. The fields are some that the caller sees.';

/** Changes of a dataset reference. */
@InputType({ description: 'Changes of a dataset reference. Absent keys stay as they are, null clears.' })
export class UpdateDatasetReferenceInput implements DatasetReferenceInput {
  @Field(() => String, {
    nullable: true,
    description:
      'What the blocks call the dataset, `^[a-zA-Z0-9_][a-zA-Z0-9_-]*$`, 1 to 150 characters, unique in the report. A new one is put into the report’s blocks.',
  })
  alias?: string;

  @Field(() => String, { nullable: true, description: 'What people call it, 1 to 150 characters.' })
  label?: string;

  @Field(() => JsonObject, { nullable: true, description: FILTER })
  filter?: Record<string, unknown> | null;

  @Field(() => [ChipInput], { nullable: true, description: 'Fields that readers may filter by, at most 100.' })
  chips?: ChipInput[] | null;

  @Field(() => ReferenceSnapshotsInput, {
    nullable: true,
    description:
      'Which moments it shows; null for the current rows alone. What is no snapshot of the dataset is an error in a new reference, and passed over in a change.',
  })
  snapshots?: ReferenceSnapshotsInput | null;
}

/** A new dataset reference. */
@InputType({ description: 'A new dataset reference.' })
export class CreateDatasetReferenceInput extends UpdateDatasetReferenceInput {
  @Field(() => ID, { description: 'The report, once more.' })
  reportId!: string;

  @Field(() => ID, {
    description: 'A dataset that the caller may read, by id, slug or natural id; no draft or snapshot.',
  })
  datasetId!: string;

  @Field(() => String, {
    description:
      'What the blocks call the dataset, `^[a-zA-Z0-9_][a-zA-Z0-9_-]*$`, 1 to 150 characters, unique in the report.',
  })
  override alias!: string;

  @Field(() => String, { description: 'What people call it, 1 to 150 characters.' })
  override label!: string;
}
