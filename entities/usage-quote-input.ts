import { Field, ID, InputType } from 'type-graphql';
import { QUOTE_ACTIONS, type QuoteAction } from '../src/core/ai.ts';
import { wordEnum } from './word-enum.ts';

const QuoteActionEnum = wordEnum(
  'UsageQuoteAction',
  'An action that costs credits.',
  QUOTE_ACTIONS,
  (action) => ({ image: 'Create an image.', agentRun: 'Run an agent.' })[action],
);

@InputType({ description: 'An action whose price the caller requests.' })
export class UsageQuoteInput {
  @Field(() => QuoteActionEnum, { description: 'The action.' })
  action!: QuoteAction;

  @Field(() => String, {
    nullable: true,
    description: 'Id of the image model; only for `IMAGE`. Default: the one that `createImage` uses.',
  })
  model?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Size of the image; only for `IMAGE`. Default: the first one of the model.',
  })
  size?: string | null;

  @Field(() => ID, { nullable: true, description: 'Id of the agent; required for `AGENT_RUN`, and only for it.' })
  agentId?: string | null;
}
