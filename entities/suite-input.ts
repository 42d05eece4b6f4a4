import { Field, ID, InputType } from 'type-graphql';
import { DESCRIPTION_RULE, NAME_RULE, Rule } from '../src/core/input-rules.ts';

@InputType({ description: 'Changes to a suite. Absent keys are unchanged, and null clears a value.' })
export class UpdateSuiteInput {
  @Rule(NAME_RULE)
  @Field(() => String, { nullable: true, description: 'Display name.' })
  name?: string | null;

  @Rule(DESCRIPTION_RULE)
  @Field(() => String, { nullable: true, description: 'Description.' })
  description?: string | null;

  @Rule({ maxItems: 1000 })
  @Field(() => [ID], {
    nullable: true,
    description:
      'Datasources in order, by id, slug or natural id, at most 1000. The caller must be able to read each of them. ' +
      'Replaces the datasources that the caller sees. Others stay in the suite, after the listed ones.',
  })
  datasourceIds?: string[] | null;
}

@InputType({ description: 'A new suite.' })
export class CreateSuiteInput extends UpdateSuiteInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;
}
