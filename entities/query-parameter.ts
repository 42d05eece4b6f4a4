import { Field, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { PARAMETER_NAME_RULE, Rule } from '../src/core/input-rules.ts';
import type { ParameterDefinition, ParameterValue } from '../src/core/parameters.ts';
import { Json } from '../src/core/scalars.ts';

/** Keys are the GraphQL values, values are the REST values. (TypeGraphQL requires an object.) */
const ParameterTypeEnum = { STRING: 'string', NUMBER: 'number', DATE: 'date', BOOLEAN: 'boolean' } as const;
registerEnumType(ParameterTypeEnum, {
  name: 'ParameterType',
  description: 'Data type of a query parameter.',
  valuesConfig: {
    STRING: { description: 'Text.' },
    NUMBER: { description: 'A number, or a text of its digits where a JSON number would round it.' },
    DATE: { description: 'An ISO 8601 date or timestamp. A timestamp without a time zone is read as UTC.' },
    BOOLEAN: { description: 'True or false.' },
  },
});

/**
 * Definition of a query parameter (docs/contract/datasets.md#parameters). The same class is the output type and the
 * input type.
 */
@ObjectType({ description: 'Definition of a query parameter, used in the query as `{{name}}`.' })
@InputType('QueryParameterInput', { description: 'Definition of a query parameter, used in the query as `{{name}}`.' })
export class QueryParameter implements ParameterDefinition {
  @Rule(PARAMETER_NAME_RULE)
  @Field(() => String, {
    description:
      'Name of the parameter, 1 to 63 characters: letters, digits, `_` and `-`, not starting with a digit or `-`.',
  })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Display label. Clients show the name when it is null.' })
  label?: string | null;

  @Field(() => ParameterTypeEnum, { description: 'Data type of the value.' })
  dataType!: ParameterDefinition['dataType'];

  @Rule({ type: ['string', 'number', 'boolean'] })
  @Field(() => Json, { nullable: true, description: 'Value to use when a run does not set the parameter.' })
  defaultValue?: ParameterValue;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether a run without a value for the parameter fails. Default: false.',
  })
  required?: boolean;

  @Field(() => String, { nullable: true, description: 'Description.' })
  description?: string | null;
}
