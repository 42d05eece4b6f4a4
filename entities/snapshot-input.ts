import { Field, InputType } from 'type-graphql';
import { DESCRIPTION_RULE, NAME_RULE, Rule } from '../src/core/input-rules.ts';

@InputType({ description: 'Changes to a snapshot. Absent keys are unchanged, and null clears a value.' })
export class UpdateSnapshotInput {
  @Rule(NAME_RULE)
  @Field(() => String, { nullable: true, description: 'Display name, 1 to 255 characters.' })
  name?: string | null;

  @Rule(DESCRIPTION_RULE)
  @Field(() => String, { nullable: true, description: 'Description, up to 10,000 characters.' })
  description?: string | null;
}

@InputType({ description: 'A new snapshot.' })
export class CreateSnapshotInput extends UpdateSnapshotInput {
  @Field(() => String, { description: 'Display name, 1 to 255 characters.' })
  override name!: string;
}

@InputType({ description: 'An independent dataset that is created from a snapshot.' })
export class PromoteSnapshotInput extends CreateSnapshotInput {
  @Field(() => Boolean, {
    nullable: true,
    description:
      'True: keeps the snapshot and creates another dataset from it. ' +
      'False: turns the snapshot itself into the dataset, with the same id. Default: false.',
  })
  preserveSnapshot?: boolean | null;
}
