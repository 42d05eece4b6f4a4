import { Field, ID, InputType } from 'type-graphql';
import { DESCRIPTION_RULE, NAME_RULE, Rule } from '../src/core/input-rules.ts';
import { FlowStepScalar } from '../src/core/query-language.ts';
import { JsonObject } from '../src/core/scalars.ts';
import { FieldLabelInput } from './dataset-input.ts';
import { QueryParameter } from './query-parameter.ts';

@InputType({
  description:
    'Differences between a new draft and its dataset. Absent keys are copied from the dataset. Null clears a value.',
})
export class UpdateDatasetDraftInput {
  @Rule(NAME_RULE)
  @Field(() => String, { nullable: true, description: 'Display name, 1 to 255 characters.' })
  name?: string | null;

  @Rule(DESCRIPTION_RULE)
  @Field(() => String, { nullable: true, description: 'Description, up to 10,000 characters.' })
  description?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Id of the saved query that the draft follows. Null for a query of its own.',
  })
  queryId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Id of the datasource on which the draft’s own query runs.' })
  datasourceId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The draft’s own query: one statement, with `{{name}}` for the value of a parameter.',
  })
  query?: string | null;

  @Field(() => [QueryParameter], {
    nullable: true,
    description:
      'Parameters of the draft’s own query. With `queryId`: overrides of the saved query’s parameters, by name.',
  })
  params?: QueryParameter[] | null;

  @Field(() => [FlowStepScalar], {
    nullable: true,
    description: 'Steps that transform the rows while a refresh loads them, in order; at most 100.',
  })
  flow?: Record<string, unknown>[] | null;

  @Field(() => JsonObject, { nullable: true, description: 'Settings of client applications.' })
  settings?: Record<string, unknown> | null;

  @Field(() => [FieldLabelInput], {
    nullable: true,
    description: 'Labels and descriptions of fields. Fields that are not listed are copied from the dataset.',
  })
  fields?: FieldLabelInput[] | null;
}
