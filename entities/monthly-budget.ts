import { Property } from '@mikro-orm/decorators/legacy';
import { Field, Float } from 'type-graphql';

/** Declares the column and field `monthlyBudget` of an entity that usage is charged to. */
export const MonthlyBudget = (): PropertyDecorator => (target, key) => {
  Field(() => Float, {
    nullable: true,
    description:
      'Budget in credits of a UTC month; null for none. When more is used, users are notified. Only the budget of an agent is ' +
      'a limit, of its AI calls.',
  })(target, key);
  Property({ type: 'decimal', columnType: 'numeric(15, 6)', nullable: true })(target, key as string);
};

/** Declares the input field `monthlyBudget`, which `setMonthlyBudget` checks. */
export const MonthlyBudgetInput = (): PropertyDecorator => (target, key) => {
  Field(() => Float, {
    nullable: true,
    description:
      'Budget in credits of a UTC month, with at most six decimals; null for none. Changing it requires the permission ' +
      '`billing:manage`.',
  })(target, key);
};
