import { Field, ID, InputType } from 'type-graphql';
import { QUERY_RULE, Rule } from '../src/core/input-rules.ts';
import { UpdateOwnedInput } from './owned-input.ts';
import { QueryParameter } from './query-parameter.ts';

const QUERY = 'A single SQL statement. `{{name}}` is a placeholder for the value of a parameter.';
const DATASOURCE = 'Id, slug or natural id of the datasource that the query runs on. Requires `datasource:run` on it.';

@InputType({ description: 'Changes to a saved query. Absent keys are unchanged, and null clears a value.' })
export class UpdateSavedQueryInput extends UpdateOwnedInput {
  @Rule({ notNull: true })
  @Field(() => ID, { nullable: true, description: DATASOURCE })
  datasourceId?: string | null;

  @Rule({ enum: ['sql'] })
  @Field(() => String, { nullable: true, description: 'Query language. Must be `sql`.' })
  language?: string | null;

  @Rule({ ...QUERY_RULE, notNull: true })
  @Field(() => String, { nullable: true, description: QUERY })
  query?: string | null;

  @Rule({ maxItems: 100 })
  @Field(() => [QueryParameter], {
    nullable: true,
    description: 'Definitions of the query’s parameters, at most 100. Replaces all previous definitions.',
  })
  params?: QueryParameter[] | null;
}

@InputType({ description: 'A new saved query.' })
export class CreateSavedQueryInput extends UpdateSavedQueryInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;

  @Field(() => ID, { description: DATASOURCE })
  override datasourceId!: string;

  @Field(() => String, { description: QUERY })
  override query!: string;
}
