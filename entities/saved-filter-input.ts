import { Field, ID, InputType } from 'type-graphql';
import { DESCRIPTION_RULE, NAME_RULE, Rule } from '../src/core/input-rules.ts';
import { Criteria } from '../src/core/query-language.ts';

const CRITERIA = 'Criteria over fields that the caller may see. At most 1 MB as JSON.';

@InputType({ description: 'Changes to a saved filter. Absent keys are unchanged, and null clears a value.' })
export class UpdateSavedFilterInput {
  @Rule(NAME_RULE)
  @Field(() => String, { nullable: true, description: 'Display name, 1 to 255 characters.' })
  name?: string | null;

  @Rule(DESCRIPTION_RULE)
  @Field(() => String, { nullable: true, description: 'Description, up to 10,000 characters.' })
  description?: string | null;

  @Rule({ notNull: true })
  @Field(() => Criteria, { nullable: true, description: CRITERIA })
  criteria?: Record<string, unknown> | null;
}

@InputType({ description: 'A new saved filter.' })
export class CreateSavedFilterInput extends UpdateSavedFilterInput {
  @Field(() => String, { description: 'Display name, 1 to 255 characters.' })
  override name!: string;

  @Field(() => Criteria, { description: CRITERIA })
  override criteria!: Record<string, unknown>;

  @Field(() => ID, {
    nullable: true,
    description: 'Owner: `user:<id>`, `team:<id>`, or the id or name of a user. Default: the caller.',
  })
  ownerId?: string | null;
}
