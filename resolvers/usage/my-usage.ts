import { Ctx, Field, Float, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { ModelTierEnum } from '../../entities/model-tier.ts';
import { wordEnum } from '../../entities/word-enum.ts';
import type { ModelTier } from '../../src/core/ai.ts';
import type { Context } from '../../src/core/context.ts';
import { DateTime } from '../../src/core/scalars.ts';
import { USAGE_PROFILE_SOURCES, type UsageProfileSource } from '../../src/core/usage-profile.ts';
import { UuidField } from '../../src/core/uuid-field.ts';
import { requireUser } from '../../src/core/viewer.ts';
import { readAgentUse, type AgentUse } from '../../src/services/usage/agent-use.ts';
import { readCreditUse } from '../../src/services/usage/credit-use.ts';
import { Can } from '../support/guard.ts';

const UsageProfileSourceEnum = wordEnum(
  'UsageProfileSource',
  'Where the credits and models of a user come from.',
  USAGE_PROFILE_SOURCES,
  (source) =>
    ({
      own: 'A usage profile that is assigned to the user.',
      team: 'The usage profiles that are assigned to teams of the user.',
      default: 'The default usage profile of the tenant.',
    })[source],
);

@ObjectType({ description: 'The name of a usage profile.' })
class UsageProfileName {
  @Field(() => String, { description: 'Display name.' }) name!: string;
  @Field(() => String, { description: 'Short name.' }) slug!: string;
}

/** The credits and models that a user may use. */
@ObjectType('EffectiveUsageProfile', {
  description:
    'Credits and models that a user may use, from one usage profile or from the usage profiles of several teams.',
})
class EffectiveUsageProfileType {
  @Field(() => UsageProfileSourceEnum, { description: 'Where the limits come from.' })
  source!: UsageProfileSource;

  @Field(() => [UsageProfileName], {
    description: 'The combined usage profiles: a single one, or the usage profiles of the teams.',
  })
  profiles!: UsageProfileName[];

  @Field(() => Int, {
    nullable: true,
    description: 'Credits of a UTC month: the highest of the profiles. Null: no limit. 0: none.',
  })
  creditCapPerMonth!: number | null;

  @Field(() => Boolean, { description: 'Whether there is no monthly cap.' })
  isUnlimited!: boolean;

  @Field(() => [ModelTierEnum], { description: 'Tiers of the models that at least one of the profiles allows.' })
  allowedModelTiers!: readonly ModelTier[];
}

@ObjectType('AgentCreditUse', { description: 'Credits of a user that an agent has used in the current UTC month.' })
class AgentCreditUseType implements AgentUse {
  @UuidField()
  @Field(() => ID, {
    nullable: true,
    description: 'Id of the agent. Null in the one entry for all agents that were deleted or have another owner now.',
  })
  id!: string | null;

  @Field(() => String, { nullable: true, description: 'Name of the agent. Null if `id` is null.' })
  name!: string | null;

  @Field(() => Float, { description: 'Used credits, exact to six decimals.' })
  used!: number;

  @Field(() => Float, { description: 'Credits that are reserved for calls that have not ended.' })
  reserved!: number;
}

/** The credits of a user in the current month. */
@ObjectType('CreditUse', {
  description: 'Credits of the category `ai` that a user and their agents use in a UTC month.',
})
class CreditUseType {
  @Field(() => EffectiveUsageProfileType, { description: 'Credits and models that the user may use.' })
  profile!: EffectiveUsageProfileType;

  @Field(() => Float, { description: 'Used credits, exact to six decimals.' })
  used!: number;

  @Field(() => Float, { description: 'Credits that are reserved for calls that have not ended.' })
  reserved!: number;

  @Field(() => Int, { nullable: true, description: 'Credits that the user may use in the month. Null: no limit.' })
  cap!: number | null;

  @Field(() => Float, {
    nullable: true,
    description: 'Credits that are neither used nor reserved, at least 0. Null: no limit.',
  })
  remaining!: number | null;

  @Field(() => [AgentCreditUseType], {
    description: 'Credits that agents of the user have used and reserved, by name.',
  })
  agents!: AgentUse[];

  @Field(() => DateTime, { description: 'Start of the next UTC month, when `used` is 0 again.' })
  resetsAt!: Date;
}

@Resolver()
export class MyUsageResolver {
  @Can('authenticated')
  @Query(() => CreditUseType, {
    description:
      'Returns the AI credits that the caller and their agents have used in the current UTC month, and the remaining credits.',
  })
  async myUsage(@Ctx() ctx: Context): Promise<CreditUseType> {
    const { viewer } = ctx;
    const userId = requireUser(viewer);
    const [{ profile, used, reserved, cap, remaining, resetsAt }, agents] = await Promise.all([
      readCreditUse(ctx, viewer, { actor: `user:${userId}`, payer: userId }),
      readAgentUse(ctx, viewer, userId),
    ]);
    return {
      profile: { ...profile, isUnlimited: profile.creditCapPerMonth === null },
      used: Number(used),
      reserved: Number(reserved),
      remaining: remaining === null ? null : Number(remaining),
      cap,
      agents,
      resetsAt,
    };
  }
}
