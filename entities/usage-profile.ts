import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, Int, ObjectType } from 'type-graphql';
import type { ModelTier } from '../src/core/ai.ts';
import { ModelTierEnum } from './model-tier.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** Limits of the AI spending of users and agents in a month. See docs/contract/usage.md#usage-profiles. */
@ObjectType({
  description: 'Credits and models that users and agents may use. It is assigned to teams, users and agents.',
  implements: Node,
})
@Entity()
export class UsageProfile extends TenantRow {
  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { description: 'Short name. Unique among the usage profiles of the tenant. It never changes.' })
  @Property({ type: 'text' })
  slug!: string;

  @Field(() => String, { description: 'Description.' })
  @Property({ type: 'text' })
  description!: string;

  @Field(() => Int, {
    nullable: true,
    description: 'Credits of the category `ai` that each actor may use in a UTC month. Null: no limit. 0: none.',
  })
  @Property({ type: 'integer', nullable: true })
  creditCapPerMonth?: number | null;

  @Field(() => [ModelTierEnum], { description: 'Tiers of the models that may be used, in ascending order.' })
  @Property({ type: 'json' })
  allowedModelTiers: ModelTier[] = [];

  @Field(() => Boolean, {
    description:
      'Whether it applies to users who have no usage profile and are in no team with one. Each tenant has one default.',
  })
  @Property({ type: 'boolean' })
  isDefault: boolean = false;

  @Field(() => Boolean, { description: 'Whether every tenant has it. It can be changed, but not deleted.' })
  @Property({ type: 'boolean' })
  system: boolean = false;
}
