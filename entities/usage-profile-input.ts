import { Field, InputType, Int } from 'type-graphql';
import type { ModelTier } from '../src/core/ai.ts';
import { DESCRIPTION_RULE, intRule, NAME_RULE, Rule, textRule, type InputRule } from '../src/core/input-rules.ts';
import { ModelTierEnum } from './model-tier.ts';

const SLUG_RULE: InputRule = { minLength: 1, maxLength: 100, pattern: '^[a-z][a-z0-9-]*$', notNull: true };
/** The highest value of an integer in GraphQL. */
const MAX_CAP = 2 ** 31 - 1;

const NAME = 'Display name.';
const SLUG = 'Short name: lower-case letters, digits and hyphens, after a letter. Unique in the tenant.';
const DESCRIPTION = 'Description, at most 10,000 characters, not blank.';
const CAP = 'Credits of the category `ai` that each actor may use in a UTC month. Null: no limit. 0: none.';
const TIERS = 'Tiers of the models that may be used. The order and repetitions do not matter.';

@InputType({ description: 'Changes to a usage profile. Absent keys are unchanged.' })
export class UpdateUsageProfileInput {
  @Rule(NAME_RULE)
  @Field(() => String, { nullable: true, description: NAME })
  name?: string;

  @Rule(SLUG_RULE)
  @Field(() => String, {
    nullable: true,
    description: 'The current slug: it cannot be changed, another one fails with `BAD_USER_INPUT`.',
  })
  slug?: string;

  @Rule({ ...textRule(DESCRIPTION_RULE.maxLength!), notNull: true })
  @Field(() => String, { nullable: true, description: DESCRIPTION })
  description?: string;

  @Rule(intRule(0, MAX_CAP))
  @Field(() => Int, { nullable: true, description: CAP })
  creditCapPerMonth?: number | null;

  @Rule({ maxItems: 100, notNull: true })
  @Field(() => [ModelTierEnum], { nullable: true, description: TIERS })
  allowedModelTiers?: ModelTier[];

  @Rule({ notNull: true })
  @Field(() => Boolean, {
    nullable: true,
    description:
      'True: it becomes the default of the tenant, in place of the current one. False fails for the default.',
  })
  isDefault?: boolean;
}

@InputType({ description: 'A new usage profile.' })
export class CreateUsageProfileInput extends UpdateUsageProfileInput {
  @Field(() => String, { description: NAME })
  override name!: string;

  @Field(() => String, { description: SLUG })
  override slug!: string;

  @Field(() => String, { description: DESCRIPTION })
  override description!: string;

  @Field(() => Int, { nullable: true, description: `${CAP} Default: null.` })
  override creditCapPerMonth?: number | null;

  @Field(() => [ModelTierEnum], { nullable: true, description: `${TIERS} Default: none.` })
  override allowedModelTiers?: ModelTier[];

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether it becomes the default of the tenant. Default: false.',
  })
  override isDefault?: boolean;
}
