import { Field, ID, InputType } from 'type-graphql';
import { optionalTextRule, Rule, textRule } from '../src/core/input-rules.ts';
import { AppEventInput } from './app-event.ts';
import { MonthlyBudgetInput } from './monthly-budget.ts';
import { UpdateOwnedInput } from './owned-input.ts';

/** Maximum number of toolkits, of datasets and of events of an assistant. */
const MAX_PARTS = 50;
/** Maximum number of characters of instructions. */
export const MAX_INSTRUCTIONS = 20_000;

@InputType({ description: 'Changes to an assistant. Absent keys are unchanged, and null clears a value.' })
export class UpdateAssistantInput extends UpdateOwnedInput {
  @Rule(textRule(100))
  @Field(() => String, {
    nullable: true,
    description:
      'Default icon, if no icon is uploaded: the name of a glyph, or an emoji. Null: the initial of its name.',
  })
  icon?: string | null;

  @Rule(optionalTextRule(MAX_INSTRUCTIONS))
  @Field(() => String, {
    nullable: true,
    description: `Instructions for the model, at most ${MAX_INSTRUCTIONS} characters; null for none.`,
  })
  instructions?: string | null;

  @Rule(textRule(200))
  @Field(() => String, {
    nullable: true,
    description: 'Id of the chat model that it uses. Null: the first one that an AI provider has.',
  })
  model?: string | null;

  @Rule({ maxItems: MAX_PARTS })
  @Field(() => [ID], {
    nullable: true,
    description: `Ids of all toolkits with tools that its agents call, at most ${MAX_PARTS}; null for none.`,
  })
  toolkitIds?: string[] | null;

  @Rule({ maxItems: MAX_PARTS })
  @Field(() => [ID], {
    nullable: true,
    description: `Ids of all datasets whose rows its agents read, at most ${MAX_PARTS}; null for none.`,
  })
  datasetIds?: string[] | null;

  @Rule({ maxItems: MAX_PARTS })
  @Field(() => [AppEventInput], {
    nullable: true,
    description:
      `Events of apps, at most ${MAX_PARTS}; null for none. Its agents that have no events of their own run when one is ` +
      'raised.',
  })
  events?: AppEventInput[] | null;

  @MonthlyBudgetInput()
  monthlyBudget?: number | null;
}

@InputType({ description: 'A new assistant.' })
export class CreateAssistantInput extends UpdateAssistantInput {
  @Field(() => String, { description: 'Display name, 1 to 255 characters.' })
  override name!: string;
}
