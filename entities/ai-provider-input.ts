import { Field, Float, InputType } from 'type-graphql';
import { type ModelKind, type ModelTier } from '../src/core/ai.ts';
import { NAME_RULE, OUTBOUND_URL_RULE, Rule, textRule } from '../src/core/input-rules.ts';
import { ModelKindEnum } from './ai-provider.ts';
import { ModelTierEnum } from './model-tier.ts';

@InputType({
  description:
    'A model of an AI provider. An image model requires `price`, a chat model `inputPrice` and `outputPrice`. Prices have at ' +
    'most 9 decimals.',
})
export class AiModelInput {
  @Rule(textRule(200))
  @Field(() => String, { description: 'Name by which the provider knows it. Unique within the provider.' })
  id!: string;

  @Field(() => ModelKindEnum, { description: 'Kind of its output.' })
  kind!: ModelKind;

  @Field(() => ModelTierEnum, { description: 'Tier, which a usage profile must allow.' })
  tier!: ModelTier;

  @Rule({
    maxItems: 50,
    items: {
      minLength: 1,
      pattern: '^[\\w.:-]{1,50}$',
      patternMessage: 'must have 1 to 50 letters, digits and _ . : -',
    },
  })
  @Field(() => [String], {
    nullable: true,
    description: 'Sizes of its images, the default first, e.g. `1024x1024`. Default: none, for a model with one size.',
  })
  sizes?: string[] | null;

  @Field(() => Float, { nullable: true, description: 'Price of an image in US dollars. Only for image models.' })
  price?: number | null;

  @Field(() => Float, {
    nullable: true,
    description: 'Price of a million tokens of prompts in US dollars. Only for chat models.',
  })
  inputPrice?: number | null;

  @Field(() => Float, {
    nullable: true,
    description: 'Price of a million tokens of responses in US dollars. Only for chat models.',
  })
  outputPrice?: number | null;
}

/** Descriptions of fields that the inputs of both mutations have. */
const NAME = 'Display name.';
const BASE_URL = 'Base of the URLs of the API, e.g. `https://api.example.com/v1`.';
const API_KEY = 'Key that the provider requires. Write-only';
const MODELS = 'Its models. The first of a kind is the default.';
const ENABLED = 'Whether it is used.';

@InputType({ description: 'Changes to an AI provider. Absent keys are unchanged.' })
export class UpdateAiProviderInput {
  @Rule(NAME_RULE)
  @Field(() => String, { nullable: true, description: NAME })
  name?: string;

  @Rule({ ...OUTBOUND_URL_RULE, notNull: true })
  @Field(() => String, { nullable: true, description: BASE_URL })
  baseUrl?: string;

  @Rule({ ...textRule(1000), pattern: '^[!-~]+$', patternMessage: 'must have printable ASCII characters only' })
  @Field(() => String, {
    nullable: true,
    description: `${API_KEY}: absent keeps it, null clears it. Required when a stored key exists and \`baseUrl\` changes.`,
  })
  apiKey?: string | null;

  @Rule({ maxItems: 100, notNull: true })
  @Field(() => [AiModelInput], { nullable: true, description: MODELS })
  models?: AiModelInput[];

  @Rule({ notNull: true })
  @Field(() => Boolean, { nullable: true, description: ENABLED })
  enabled?: boolean;
}

@InputType({ description: 'A new AI provider.' })
export class CreateAiProviderInput extends UpdateAiProviderInput {
  @Field(() => String, { description: NAME })
  override name!: string;

  @Field(() => String, { description: BASE_URL })
  override baseUrl!: string;

  @Field(() => String, { nullable: true, description: `${API_KEY}. Default: none.` })
  override apiKey?: string | null;

  @Field(() => [AiModelInput], { nullable: true, description: `${MODELS} Default: none.` })
  override models?: AiModelInput[];

  @Field(() => Boolean, { nullable: true, description: `${ENABLED} Default: true.` })
  override enabled?: boolean;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether it belongs to the caller. No other user sees it then. Default: false, for one of the tenant, which ' +
      'requires a superuser.',
  })
  own?: boolean | null;
}
