import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, ObjectType } from 'type-graphql';
import { MODEL_KINDS, type AiModel, type ModelKind, type ModelTier } from '../src/core/ai.ts';
import { ModelTierEnum } from './model-tier.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';
import { wordEnum } from './word-enum.ts';

export const ModelKindEnum = wordEnum(
  'AiModelKind',
  'Kind of output of a model of an AI provider.',
  MODEL_KINDS,
  (kind) => ({ image: 'Images.', chat: 'Texts and calls of tools.' })[kind],
);

/** A model of an AI provider. Its prices are stored as exact decimals. */
@ObjectType('AiModel', { description: 'A model of an AI provider.' })
class AiModelType implements AiModel {
  /** Two providers may have models with the same id, so it cannot be an `id` for the caches of GraphQL clients. */
  @Field(() => String, {
    name: 'name',
    description: 'Name by which the provider knows it; `id` in REST and in inputs.',
  })
  id!: string;

  @Field(() => ModelKindEnum, { description: 'Kind of its output.' })
  kind!: ModelKind;

  @Field(() => ModelTierEnum, { description: 'Tier, which a usage profile must allow.' })
  tier!: ModelTier;

  @Field(() => [String], { description: 'Sizes of its images, the default first. Empty if it has only one.' })
  sizes!: string[];

  @Field(() => Float, { nullable: true, description: 'Price of an image in US dollars; null for a chat model.' })
  price!: string | null;

  @Field(() => Float, {
    nullable: true,
    description: 'Price of a million tokens of prompts in US dollars; null for an image model.',
  })
  inputPrice!: string | null;

  @Field(() => Float, {
    nullable: true,
    description: 'Price of a million tokens of responses in US dollars; null for an image model.',
  })
  outputPrice!: string | null;
}

/** An AI provider of the tenant, or one of a user's own (docs/contract/agents.md#ai-providers). */
@ObjectType({
  description:
    'An AI provider with an OpenAI-compatible API. Users with `ai:access` may use the providers of the tenant. A user’s own provider is ' +
    'visible to that user alone, and its use costs no credits.',
  implements: Node,
})
@Entity()
export class AiProvider extends TenantRow {
  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  /** Base of the URLs of the API. Only those who may change the provider see it. */
  @Property({ type: 'text' })
  baseUrl!: string;

  /** The encrypted key. Write-only in the API. Null for a provider that needs none. */
  @Property({ type: 'text', nullable: true, lazy: true })
  sealedApiKey?: string | null;

  @Field(() => [AiModelType], { description: 'Its models. The first of a kind is the default.' })
  @Property({ type: 'json' })
  models: AiModel[] = [];

  @Field(() => Boolean, { description: 'Whether it is used.' })
  @Property({ type: 'boolean' })
  enabled: boolean = true;

  @Field(() => ID, { nullable: true, description: 'Id of its user; null for one of the tenant.' })
  @Property({ type: 'uuid', nullable: true })
  ownerId?: string | null;
}
