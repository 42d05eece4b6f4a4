import { Field, ID, InputType } from 'type-graphql';
import { optionalTextRule, Rule } from '../src/core/input-rules.ts';
import { FlowStepScalar } from '../src/core/query-language.ts';
import { JsonObject } from '../src/core/scalars.ts';
import { UpdateOwnedInput } from './owned-input.ts';
import { QueryParameter } from './query-parameter.ts';

@InputType({ description: 'Label and description of a field. A refresh does not change them.' })
export class FieldLabelInput {
  @Field(() => String, { description: 'Name of the field.' })
  name!: string;

  @Rule(optionalTextRule(1000))
  @Field(() => String, { nullable: true, description: 'Display name; null resets it to the field’s name.' })
  label?: string | null;

  @Rule(optionalTextRule(1000))
  @Field(() => String, { nullable: true, description: 'Description; null clears it.' })
  description?: string | null;
}

@InputType({ description: 'Changes to a dataset. Absent keys are unchanged, and null clears a value.' })
export class UpdateDatasetInput extends UpdateOwnedInput {
  @Field(() => ID, {
    nullable: true,
    description: 'Saved query to follow; null if the dataset has a query of its own.',
  })
  queryId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Datasource on which the dataset’s own query runs.' })
  datasourceId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The dataset’s own query: one statement, with `{{name}}` for the value of a parameter.',
  })
  query?: string | null;

  @Field(() => [QueryParameter], {
    nullable: true,
    description:
      'Parameters of the dataset’s own query. With `queryId`: overrides of the saved query’s parameters, by name. ' +
      'The list replaces the current one.',
  })
  params?: QueryParameter[] | null;

  @Field(() => [FlowStepScalar], {
    nullable: true,
    description:
      'Steps that transform the rows while a refresh loads them, in order; at most 100. The list replaces the current one.',
  })
  flow?: Record<string, unknown>[] | null;

  @Field(() => JsonObject, {
    nullable: true,
    description: 'Settings of client applications. The object replaces the current one.',
  })
  settings?: Record<string, unknown> | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether shares may restrict fields. A change requires `dataset:share`.',
  })
  fieldSecurityEnabled?: boolean | null;

  @Field(() => [FieldLabelInput], {
    nullable: true,
    description: 'Labels and descriptions of fields. Fields that are not listed are unchanged.',
  })
  fields?: FieldLabelInput[] | null;
}

@InputType({ description: 'A new dataset. Requires either `queryId`, or `datasourceId` and `query`.' })
export class CreateDatasetInput extends UpdateDatasetInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether to load the rows before the call returns. If that fails, the dataset has no rows and `lastRefresh` ' +
      'has the error. Default: false.',
  })
  refresh?: boolean | null;
}
