import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { EVENT_NAME_RULE, Rule } from '../src/core/input-rules.ts';
import { UuidField } from '../src/core/uuid-field.ts';

/** An event of one app, by its name (docs/contract/agents.md#events-of-agents). */
@ObjectType({ description: 'An event of one app.' })
export class AppEvent {
  @UuidField()
  @Field(() => ID, { description: 'Id of the app. The app may have been deleted.' })
  appId!: string;

  @Field(() => String, { description: 'Name with which the app emits it.' })
  name!: string;
}

@InputType({ description: 'An event of one app.' })
export class AppEventInput {
  @Field(() => ID, { description: 'Id, slug or natural id of an app that the caller may read.' })
  appId!: string;

  @Rule(EVENT_NAME_RULE)
  @Field(() => String, {
    description: 'Name with which the app emits it: 1 to 100 letters, digits and `_ . : -`.',
  })
  name!: string;
}
