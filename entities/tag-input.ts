import { Field, InputType } from 'type-graphql';
import { DESCRIPTION_RULE, Rule, textRule } from '../src/core/input-rules.ts';

@InputType({ description: 'Changes to a tag. Absent keys are unchanged, and null clears a value.' })
export class UpdateTagInput {
  @Rule({ ...textRule(100), notNull: true })
  @Field(() => String, {
    nullable: true,
    description: 'Display name, 1 to 100 characters, unique in the tenant ignoring case. Not shaped like a UUID.',
  })
  name?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Colour: `#rgb`, `#rrggbb` or a CSS colour name, e.g. `rebeccapurple`.',
  })
  color?: string | null;

  @Rule(DESCRIPTION_RULE)
  @Field(() => String, { nullable: true, description: 'Description, at most 10,000 characters.' })
  description?: string | null;
}

@InputType({ description: 'A new tag.' })
export class CreateTagInput extends UpdateTagInput {
  @Field(() => String, {
    description: 'Display name, 1 to 100 characters, unique in the tenant ignoring case. Not shaped like a UUID.',
  })
  override name!: string;
}
