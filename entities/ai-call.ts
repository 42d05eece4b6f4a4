import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { AI_CALL_STATUSES, MODEL_KINDS, type AiCallStatus, type ModelKind } from '../src/core/ai.ts';
import type { OperationFailure } from '../src/core/operations.ts';
import { USAGE_ENTITY_TYPES, type UsageEntityType } from '../src/core/usage.ts';
import { ModelKindEnum } from './ai-provider.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';
import { UsageEntityTypeEnum } from './usage-event.ts';
import { wordEnum } from './word-enum.ts';

export const AiCallStatusEnum = wordEnum(
  'AiCallStatus',
  'How a call of an AI provider ended.',
  AI_CALL_STATUSES,
  (status) =>
    ({
      succeeded: 'The provider returned the requested output.',
      failed: 'It failed. `error` is the reason. Charged if it was sent and the provider did not refuse it.',
      cancelled: 'It was cancelled. Charged if it was sent and the provider did not refuse it.',
    })[status],
);

/** See docs/contract/agents.md#ai-audit. */
@ObjectType({
  description: 'A call of an AI provider. Superusers only. Deleted after 400 days, its prompt after 90 days.',
  implements: Node,
})
@Entity()
export class AiCall extends TenantRow {
  @Field(() => String, { description: 'Who called: `user:<id>` or `agent:<id>`.' })
  @Property({ type: 'text' })
  actor!: string;

  @Field(() => ID, { description: 'Id of the user who called, or who owns the agent.' })
  @Property({ type: 'uuid' })
  userId!: string;

  @Field(() => ModelKindEnum, { description: 'Kind of the requested output.' })
  @Enum({ items: () => [...MODEL_KINDS], type: 'text' })
  action!: ModelKind;

  @Field(() => UsageEntityTypeEnum, { description: 'Type of the resource that the call is charged to.' })
  @Enum({ items: () => [...USAGE_ENTITY_TYPES], type: 'text' })
  entityType!: UsageEntityType;

  @Field(() => ID, { description: 'Id of the resource that the call is charged to. It may have been deleted since.' })
  @Property({ type: 'uuid' })
  entityId!: string;

  @Field(() => ID, { description: 'Id of the AI provider. It may have been deleted since.' })
  @Property({ type: 'uuid' })
  providerId!: string;

  @Field(() => String, { description: 'Name of the AI provider at the time of the call.' })
  @Property({ type: 'text' })
  providerName!: string;

  @Field(() => Boolean, { description: 'Whether the provider was the user’s own. Such calls cost no credits.' })
  @Property({ type: 'boolean' })
  ownProvider!: boolean;

  @Field(() => String, { description: 'Id of the model.' })
  @Property({ type: 'text' })
  model!: string;

  @Field(() => String, { nullable: true, description: 'Size of the image; null for a chat.' })
  @Property({ type: 'text', nullable: true })
  size?: string | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'Tokens of the prompt, estimated if the provider states none; null for an image, and a call that failed without stating them.',
  })
  @Property({ type: 'integer', nullable: true })
  inputTokens?: number | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'Tokens of the response, estimated if the provider states none; null for an image, and a call that failed without stating them.',
  })
  @Property({ type: 'integer', nullable: true })
  outputTokens?: number | null;

  @Field(() => Int, { description: 'Duration in milliseconds.' })
  @Property({ type: 'integer' })
  duration!: number;

  @Field(() => AiCallStatusEnum, { description: 'How it ended.' })
  @Enum({ items: () => [...AI_CALL_STATUSES], type: 'text' })
  status!: AiCallStatus;

  /** Why it did not succeed. Null if it succeeded. */
  @Property({ type: 'json', nullable: true })
  error?: OperationFailure | null;

  @Field(() => Float, {
    nullable: true,
    description:
      'Credits that were charged. Null if the call was not sent, was refused by the provider, ' +
      'or used the user’s own provider.',
  })
  @Property({ type: 'decimal', columnType: 'numeric(15, 6)', nullable: true })
  credits?: number | null;

  /** The encrypted prompt. Null after 90 days. */
  @Property({ type: 'text', nullable: true })
  sealedPrompt?: string | null;
}
