import { Field, ID, Int, ObjectType } from 'type-graphql';
import { SnapshotChoiceEnum } from '../../entities/dataset-reference-input.ts';
import type { SnapshotSettings } from '../../entities/dataset-reference.ts';
import { UuidField } from '../../src/core/uuid-field.ts';

@ObjectType({ description: 'A snapshot that a dataset reference chooses by id.' })
export class ReferenceSnapshot {
  @UuidField()
  @Field(() => ID, { description: 'Id of the snapshot.' })
  datasetId!: string;
}

/** Snapshot settings of a dataset reference. */
@ObjectType({
  description: 'Snapshot settings of a dataset reference: whether it shows current rows, snapshots, or both.',
})
export class ReferenceSnapshots implements SnapshotSettings {
  @Field(() => Boolean, { description: 'Whether current rows are included.' })
  includeLatest!: boolean;

  @Field(() => SnapshotChoiceEnum, {
    nullable: true,
    description: '`n`: the latest `n` snapshots by date. Null: the snapshots in `snapshotDatasets`.',
  })
  type!: SnapshotSettings['type'];

  @Field(() => Int, { description: 'Number of latest snapshots to include when `type` is `n`.' })
  n!: number;

  @Field(() => [ReferenceSnapshot], { description: 'Snapshots chosen by id. Not shown when `type` is `n`.' })
  snapshotDatasets!: ReferenceSnapshot[];
}
