import { Field, InputType } from 'type-graphql';
import { DESCRIPTION_RULE, NAME_RULE, Rule, SLUG_RULE } from '../src/core/input-rules.ts';

@InputType({ description: 'A new team.' })
export class CreateTeamInput {
  @Rule(NAME_RULE)
  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Rule(SLUG_RULE)
  @Field(() => String, { nullable: true, description: 'Short name. Derived from the name by default.' })
  slug?: string;

  @Rule(DESCRIPTION_RULE)
  @Field(() => String, { nullable: true, description: 'Description.' })
  description?: string | null;
}

@InputType({ description: 'Changes to a team. Absent keys are unchanged, and null clears a value.' })
export class UpdateTeamInput implements Partial<CreateTeamInput> {
  @Rule(NAME_RULE)
  @Field(() => String, { nullable: true, description: 'Display name.' })
  name?: string;

  @Rule(SLUG_RULE)
  @Field(() => String, { nullable: true, description: 'Short name.' })
  slug?: string;

  @Rule(DESCRIPTION_RULE)
  @Field(() => String, { nullable: true, description: 'Description.' })
  description?: string | null;
}
