import { Field, ID, InputType, Int, registerEnumType } from 'type-graphql';
import { intRule, Rule, type InputRule } from '../src/core/input-rules.ts';
import { JsonObject } from '../src/core/scalars.ts';
import { Chip, LABEL_RULE, type SnapshotSettings } from './dataset-reference.ts';

/** The key is the GraphQL value, the value is the REST value. (TypeGraphQL requires an object.) */
export const SnapshotChoiceEnum = { N: 'n' } as const;
registerEnumType(SnapshotChoiceEnum, {
  name: 'SnapshotChoice',
  description: 'Rule that selects snapshots, as an alternative to a list of ids.',
  valuesConfig: { N: { description: 'The latest `n` snapshots by date.' } },
});

/** Snapshots of one dataset reference. */
export const MAX_SNAPSHOTS = 50;

/** Selects the rows that a reference shows. Absent keys have their defaults. */
@InputType({
  description:
    'Selects the rows that a reference shows: current rows, snapshots, or both. ' +
    'Replaces all previous settings; absent keys have their defaults.',
})
export class ReferenceSnapshotsInput {
  @Field(() => Boolean, { nullable: true, description: 'Whether current rows are included. Default: true.' })
  includeLatest?: boolean | null;

  @Field(() => SnapshotChoiceEnum, {
    nullable: true,
    description: '`n`: the latest `n` snapshots by date. Null: the snapshots in `snapshotDatasets`.',
  })
  type?: SnapshotSettings['type'];

  @Rule({ ...intRule(1, MAX_SNAPSHOTS), default: 1 })
  @Field(() => Int, {
    nullable: true,
    description: 'Number of latest snapshots to include when `type` is `n`, 1 to 50. Default: 1.',
  })
  n?: number | null;

  @Rule({ maxItems: MAX_SNAPSHOTS })
  @Field(() => [ID], {
    nullable: true,
    description: 'Ids of snapshots of the dataset, at most 50. Used when `type` is null.',
  })
  snapshotDatasets?: string[] | null;
}

const ALIAS =
  'Name by which the blocks of the report refer to the dataset: `^[a-zA-Z0-9_][a-zA-Z0-9_-]*$`, ' +
  '1 to 150 characters, unique within the report.';

/** Aliases of datasets. */
export const ALIAS_RULE: InputRule = {
  minLength: 1,
  maxLength: 150,
  pattern: '^[a-zA-Z0-9_][a-zA-Z0-9_-]*$',
  notNull: true,
};

@InputType({ description: 'Changes to a dataset reference. Absent keys are unchanged, and null clears a value.' })
export class UpdateDatasetReferenceInput {
  @Rule(ALIAS_RULE)
  @Field(() => String, {
    nullable: true,
    description: `${ALIAS} A changed alias is also replaced in the blocks of the report.`,
  })
  alias?: string | null;

  @Rule(LABEL_RULE)
  @Field(() => String, { nullable: true, description: 'Display label, 1 to 150 characters.' })
  label?: string | null;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Filter on the rows: `{"criteria": [{"field", "op", "value"}]}`. Rows must match all conditions. ' +
      '`op` is one of eq, ne, gt, gte, lt, lte, in, nin, regex, exists, with or without `$`. ' +
      'The caller must be able to see the fields. Null for all rows.',
  })
  filter?: Record<string, unknown> | null;

  @Rule({ maxItems: 100 })
  @Field(() => [Chip], {
    nullable: true,
    description: 'Fields by which readers of the report can filter, at most 100.',
  })
  chips?: Chip[] | null;

  @Field(() => ReferenceSnapshotsInput, {
    nullable: true,
    description:
      'Selects current rows, snapshots, or both. Null for current rows only. ' +
      'An id that is not a snapshot of the dataset is an error on create and is ignored on update.',
  })
  snapshots?: ReferenceSnapshotsInput | null;
}

@InputType({ description: 'A new dataset reference.' })
export class CreateDatasetReferenceInput extends UpdateDatasetReferenceInput {
  @Field(() => ID, {
    description: 'Report, by id, slug or natural id. Must be the report of the path or of the `reportId` argument.',
  })
  reportId!: string;

  @Field(() => ID, {
    description: 'Dataset that the caller can read, by id, slug or natural id. Must not be a draft or a snapshot.',
  })
  datasetId!: string;

  @Field(() => String, { description: ALIAS })
  override alias!: string;

  @Field(() => String, { description: 'Display label, 1 to 150 characters.' })
  override label!: string;
}
