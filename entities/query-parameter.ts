import { Field, InputType, ObjectType, registerEnumType } from 'type-graphql';
import type { ParameterDefinition, ParameterValue } from '../src/core/parameters.ts';
import { Json } from '../src/core/scalars.ts';

export const ParameterTypeEnum = { STRING: 'string', NUMBER: 'number', DATE: 'date', BOOLEAN: 'boolean' } as const;
registerEnumType(ParameterTypeEnum, {
  name: 'ParameterType',
  description: 'Type of a query parameter’s values.',
  valuesConfig: {
    STRING: { description: 'Text.' },
    NUMBER: { description: 'A number.' },
    DATE: { description: 'An ISO date or timestamp, read as UTC.' },
    BOOLEAN: { description: 'True or false.' },
  },
});

/** A `{{name}}` of a query (specification, "Query parameter definition"). The same words read and write it. */
@ObjectType({ description: 'A `{{name}}` of a query.' })
@InputType('QueryParameterInput', { description: 'A `{{name}}` of a query.' })
export class QueryParameter implements ParameterDefinition {
  @Field(() => String, { description: 'The word between the braces.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'What to show instead of the name.' })
  label?: string | null;

  @Field(() => ParameterTypeEnum, { description: 'Type of its values.' })
  dataType!: ParameterDefinition['dataType'];

  @Field(() => Json, { nullable: true, description: 'The value when a call names none.' })
  defaultValue?: ParameterValue;

  @Field(() => Boolean, { nullable: true, description: 'Whether a call without a value is refused. Default false.' })
  required?: boolean;

  @Field(() => String, { nullable: true, description: 'What it is for.' })
  description?: string | null;
}
