import { Field, InputType } from 'type-graphql';
import { Rule, type InputRule } from '../src/core/input-rules.ts';

/** Prompts may have lines. */
const PROMPT_RULE: InputRule = {
  minLength: 1,
  maxLength: 4000,
  pattern: '^[^\\u0000]*$',
  patternMessage: 'must not contain the character U+0000',
};

@InputType({ description: 'Content of an image, and how to create it.' })
export class CreateImageInput {
  @Rule(PROMPT_RULE)
  @Field(() => String, { description: 'Prompt that describes the image, 1 to 4000 characters.' })
  prompt!: string;

  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String, {
    nullable: true,
    description:
      'Id of the model. Default: the first image model of the caller’s own AI providers, else of the tenant’s.',
  })
  model?: string | null;

  @Rule({ minLength: 1, maxLength: 50 })
  @Field(() => String, { nullable: true, description: 'Size, e.g. `1024x1024`. Default: the first one of the model.' })
  size?: string | null;
}
