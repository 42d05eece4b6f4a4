import { Field, ID, InputType } from 'type-graphql';
import { UpdateOwnedInput } from '../../entities/owned-input.ts';
import { QueryParameter } from '../../entities/query-parameter.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { FieldLabelInput } from './dataset-field.ts';

/** Changes of a dataset. */
@InputType({ description: 'Changes of a dataset. Absent keys stay as they are, null clears.' })
export class UpdateDatasetInput extends UpdateOwnedInput {
  @Field(() => ID, { nullable: true, description: 'The saved query to follow; null for a query of its own.' })
  queryId?: string | null;

  @Field(() => ID, { nullable: true, description: 'The datasource of its own query.' })
  datasourceId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Its own query: one statement; `{{name}}` stands for the value of a parameter.',
  })
  query?: string | null;

  @Field(() => [QueryParameter], {
    nullable: true,
    description:
      'Parameters of its own query; beside `queryId`, those that stand in for the saved query’s of the same name. Replaces the former.',
  })
  params?: QueryParameter[];

  @Field(() => [JsonObject], {
    nullable: true,
    description:
      'Steps that its rows pass when they are loaded: `filter`, `sort`, `limit`, `rename`, `remove`, `calculate`. Replaces the former.',
  })
  flow?: Record<string, unknown>[];

  @Field(() => JsonObject, { nullable: true, description: 'Settings of its front-ends. Replaces the former.' })
  settings?: Record<string, unknown>;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether shares may restrict fields. Needs `dataset:share` when it changes.',
  })
  fieldSecurityEnabled?: boolean;

  @Field(() => [FieldLabelInput], {
    nullable: true,
    description: 'Labels and descriptions of fields; those that are not named stay.',
  })
  fields?: FieldLabelInput[];
}

/** A new dataset. */
@InputType({ description: 'A new dataset: either `queryId`, or `datasourceId` and `query`.' })
export class CreateDatasetInput extends UpdateDatasetInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether to load its rows before answering. When that fails, `lastRefresh` says why. Default false.',
  })
  refresh?: boolean;
}
