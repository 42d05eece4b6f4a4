import { Field, ID, InputType } from 'type-graphql';
import { NAME_RULE, optionalTextRule, Rule } from '../src/core/input-rules.ts';
import { AppEventInput } from './app-event.ts';
import { MAX_INSTRUCTIONS } from './assistant-input.ts';
import { MonthlyBudgetInput } from './monthly-budget.ts';

/** Maximum number of events of an agent. */
const MAX_EVENTS = 50;
const ENABLED = 'Whether events start it.';

@InputType({ description: 'Changes to an agent. Absent keys are unchanged, and null clears a value.' })
export class UpdateAgentInput {
  @Rule(NAME_RULE)
  @Field(() => String, { nullable: true, description: 'Display name, 1 to 255 characters.' })
  name?: string;

  @Rule({ maxItems: MAX_EVENTS })
  @Field(() => [AppEventInput], {
    nullable: true,
    description: `Events of apps on which it runs, at most ${MAX_EVENTS}; null or empty: the events of its assistant.`,
  })
  events?: AppEventInput[] | null;

  @Rule(optionalTextRule(MAX_INSTRUCTIONS))
  @Field(() => String, {
    nullable: true,
    description:
      `Instructions for the model, in addition to the instructions of the assistant, at most ${MAX_INSTRUCTIONS} characters; ` +
      'null for none.',
  })
  instructions?: string | null;

  @Field(() => ID, {
    nullable: true,
    description:
      'Id of its usage profile, which applies in addition to the limits of its owner; null: none. Changing it requires the ' +
      'permission `billing:manage`.',
  })
  usageProfileId?: string | null;

  @Rule({ notNull: true })
  @Field(() => Boolean, { nullable: true, description: ENABLED })
  enabled?: boolean;

  @MonthlyBudgetInput()
  monthlyBudget?: number | null;
}

@InputType({ description: 'A new agent.' })
export class CreateAgentInput extends UpdateAgentInput {
  @Field(() => String, { description: 'Display name, 1 to 255 characters.' })
  override name!: string;

  @Field(() => ID, { description: 'Id, slug or natural id of the assistant.' })
  assistantId!: string;

  @Field(() => Boolean, { nullable: true, description: `${ENABLED} Default: true.` })
  override enabled?: boolean;
}
