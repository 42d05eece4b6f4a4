import { Field, ID, InputType } from 'type-graphql';
import { DESCRIPTION_RULE, optionalTextRule, PART_NAME_RULE, Rule, UUID_RULE } from '../src/core/input-rules.ts';
import { Json, JsonObject } from '../src/core/scalars.ts';

@InputType({ description: 'An input of a template, in the list that replaces all of them.' })
export class TemplateInputInput {
  @Rule(UUID_RULE)
  @Field(() => ID, {
    nullable: true,
    description: 'Id of the input that this changes. Without one: the input of the same name, or a new one.',
  })
  id?: string | null;

  @Rule(PART_NAME_RULE)
  @Field(() => String, {
    description:
      'Name: 1 to 63 letters, digits and `_`, no digit first, unique among the inputs and processors of the template, and ' +
      'no word of documents such as `data` or `loop`.',
  })
  name!: string;

  @Rule(optionalTextRule(255))
  @Field(() => String, { nullable: true, description: 'Display name.' })
  label?: string | null;

  @Rule(DESCRIPTION_RULE)
  @Field(() => String, { nullable: true, description: 'Description, up to 10,000 characters.' })
  description?: string | null;

  @Rule({ notNull: true })
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether a rendering without a value and without a default is an error. Default: false.',
  })
  required?: boolean | null;

  @Field(() => Json, {
    nullable: true,
    description: 'Value of renderings that send none. It must fit the schema, and has at most 64 KiB as JSON.',
  })
  defaultValue?: unknown;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'JSON Schema of the value, draft 2020-12 or 07, at most 32 KiB as JSON and 20 levels deep. References begin with ' +
      '`#`. Patterns must not need backtracking. Default: any value.',
  })
  schema?: Record<string, unknown> | null;
}
