import { Field, InputType, Int } from 'type-graphql';
import { limitRule, QUERY_RULE, Rule } from '../src/core/input-rules.ts';
import { JsonObject } from '../src/core/scalars.ts';
import { UpdateOwnedInput } from './owned-input.ts';

/** Rows that an interactive query returns. */
export const QUERY_LIMIT_RULE = limitRule(100);

@InputType({ description: 'Changes to a datasource. Absent keys are unchanged, and null clears a value.' })
export class UpdateDatasourceInput extends UpdateOwnedInput {
  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Connection settings as defined by the JSON Schema of the driver. Replaces all previous settings. ' +
      'Changing them requires `datasources:create`, except for uploaded files.',
  })
  config?: Record<string, unknown> | null;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Secrets of the connection, e.g. `password`. Write-only: absent keeps them, null clears them. ' +
      'Required when stored secrets exist and any setting in `config` other than `database` changes.',
  })
  secrets?: Record<string, unknown> | null;
}

@InputType({ description: 'A new datasource.' })
export class CreateDatasourceInput extends UpdateDatasourceInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;

  @Field(() => String, {
    description: 'Id of the driver. For drivers that read uploaded files, use `uploadDatasource` instead.',
  })
  type!: string;
}

@InputType({ description: 'A read-only query that is run once and not saved.' })
export class AdHocQueryInput {
  @Rule(QUERY_RULE)
  @Field(() => String, { description: 'A single SQL statement. `{{name}}` is a placeholder for a value in `params`.' })
  query!: string;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Values of the placeholders, by name. Values are bound as parameters; they never become part of the SQL text.',
  })
  params?: Record<string, unknown> | null;

  @Rule(QUERY_LIMIT_RULE)
  @Field(() => Int, { nullable: true, description: 'Maximum number of rows to return, 1 to 1000. Default: 100.' })
  limit?: number | null;
}
