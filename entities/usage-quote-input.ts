import { Field, ID, InputType } from 'type-graphql';
import { QUOTE_ACTIONS, type QuoteAction } from '../src/core/ai.ts';
import { wordEnum } from './word-enum.ts';

const QuoteActionEnum = wordEnum(
  'UsageQuoteAction',
  'An action that costs credits.',
  QUOTE_ACTIONS,
  (action) => ({ image: 'To create an image.', agentRun: 'To run an agent.' })[action],
);

/** An action of which the caller wants to know the cost. */
@InputType({ description: 'An action of which the caller wants to know the cost.' })
export class UsageQuoteInput {
  @Field(() => QuoteActionEnum, { description: 'The action.' })
  action!: QuoteAction;

  @Field(() => String, { nullable: true, description: 'Id of the model. Default: that of the action.' })
  model?: string | null;

  @Field(() => String, { nullable: true, description: 'Size of an image. Default: that of the action.' })
  size?: string | null;

  @Field(() => ID, { nullable: true, description: 'Id of the agent; only for the run of one.' })
  agentId?: string | null;
}
