import { Field, InputType } from 'type-graphql';
import { NAME_RULE, Rule } from '../src/core/input-rules.ts';

@InputType({ description: 'A new copy of a dataset.' })
export class CopyDatasetInput {
  @Rule(NAME_RULE)
  @Field(() => String, { description: 'Display name.' })
  name!: string;
}
