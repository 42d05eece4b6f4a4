import { Property } from '@mikro-orm/decorators/legacy';
import { Field, Float } from 'type-graphql';

/** Declares the column and field `monthlyBudget` of an entity that usage is charged to. */
export const MonthlyBudget = (): PropertyDecorator => (target, key) => {
  Field(() => Float, {
    nullable: true,
    description:
      'Credits that it is meant to use in a UTC month at most; null for no budget. Past it, users are notified, and ' +
      'nothing stops.',
  })(target, key);
  Property({ type: 'decimal', columnType: 'numeric(15, 6)', nullable: true })(target, key as string);
};

/** Declares the input field `monthlyBudget`, which `setMonthlyBudget` checks. */
export const MonthlyBudgetInput = (): PropertyDecorator => (target, key) => {
  Field(() => Float, {
    nullable: true,
    description:
      'Credits that it is meant to use in a UTC month at most, with at most six decimals; null for no budget. Changing it ' +
      'requires the permission `billing:manage`.',
  })(target, key);
};
