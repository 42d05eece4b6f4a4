import { Field, InputType, Int } from 'type-graphql';
import { intRule, Rule } from '../src/core/input-rules.ts';
import { LEVEL, type ShareLevel } from '../src/core/permissions.ts';

/** The access that a share grants. */
@InputType({ description: 'The access that a share grants.' })
export class ShareInput {
  @Rule(intRule(LEVEL.view, LEVEL.admin))
  @Field(() => Int, {
    description: 'Access level: 1 (View), 2 (Edit) or 3 (Admin). At most the caller’s own level.',
  })
  accessLevel!: ShareLevel;
}
