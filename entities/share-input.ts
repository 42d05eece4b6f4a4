import { Field, InputType, Int } from 'type-graphql';
import { intRule, Rule } from '../src/core/input-rules.ts';

/** The access that a share grants. */
@InputType({ description: 'The access that a share grants.' })
export class ShareInput {
  @Rule(intRule(1, 3))
  @Field(() => Int, {
    description: 'Access level: 1 (View), 2 (Edit) or 3 (Admin). At most the caller’s own level.',
  })
  accessLevel!: number;
}
