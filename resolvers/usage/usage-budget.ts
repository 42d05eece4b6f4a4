import { Ctx, Field, FieldResolver, Float, ID, ObjectType, Resolver, Root } from 'type-graphql';
import { UsageEntityTypeEnum } from '../../entities/usage-event.ts';
import type { Context } from '../../src/core/context.ts';
import type { UsageEntityType } from '../../src/core/usage.ts';
import { UuidField } from '../../src/core/uuid-field.ts';
import { printPrincipal } from '../../src/core/viewer.ts';
import { loadPrincipal, Principal } from '../resource/principal.ts';

@ObjectType({ description: 'The app, agent, assistant or job that has a budget.' })
export class BudgetEntity {
  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => String, { description: 'Short name; of an agent its id.' })
  slug!: string;

  /** Owner as `user:<id>` or `team:<id>`, for the fields `ownerId` and `owner`. */
  ownerId!: string;
}

/** See docs/contract/usage.md#budgets. */
@ObjectType({ description: 'Use of a monthly budget in the current UTC month.' })
export class UsageBudget {
  @UuidField()
  @Field(() => ID, { description: 'Id of the app, agent, assistant or job.' })
  entityId!: string;

  @Field(() => UsageEntityTypeEnum, { description: 'Type of the resource that has the budget.' })
  entityType!: UsageEntityType;

  @Field(() => Float, { description: 'The budget in credits.' })
  monthlyBudget!: number;

  @Field(() => Float, { description: 'Credits used in the current UTC month.' })
  creditsUsed!: number;

  @Field(() => Boolean, { description: 'Whether more is used than the budget.' })
  isOverBudget!: boolean;

  @Field(() => Float, {
    description:
      'Used part of the budget in percent, with two decimals. Of a budget of 0 it is 0 if nothing is used, else 100.',
  })
  budgetPercent!: number;

  @Field(() => Float, { description: 'Credits of the budget that are left, at least 0.' })
  budgetRemaining!: number;

  @Field(() => BudgetEntity, { description: 'Resource that has the budget. `billing:manage` suffices to read it.' })
  entity!: BudgetEntity;
}

@Resolver(() => BudgetEntity)
export class BudgetEntityResolver {
  @FieldResolver(() => ID, { description: 'Owner: user id or `team:<id>`.' })
  ownerId(@Root() { ownerId }: { ownerId: string }): string {
    return printPrincipal(ownerId);
  }

  @FieldResolver(() => Principal, { description: 'Owner, with the name to display.' })
  owner(@Ctx() ctx: Context, @Root() { ownerId }: { ownerId: string }): Promise<Principal> {
    return loadPrincipal(ctx, ownerId);
  }
}
