import { Field, InputType } from 'type-graphql';
import { JsonObject } from '../src/core/scalars.ts';
import { AppAccessInput } from './app-access.ts';
import { MonthlyBudgetInput } from './monthly-budget.ts';
import { UpdateOwnedInput } from './owned-input.ts';

@InputType({ description: 'Changes to an app. Absent keys are unchanged, and null clears a value.' })
export class UpdateAppInput extends UpdateOwnedInput {
  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Environment variables: names of letters, digits and `_` (at most 100 names), with texts as values. ' +
      'Absent variables, and variables with the value `••••`, are unchanged; null deletes a variable. ' +
      'Null instead of an object deletes all variables.',
  })
  env?: Record<string, unknown> | null;

  @Field(() => AppAccessInput, {
    nullable: true,
    description:
      'Use of callers’ rights by its code. Each caller is asked to agree. Replaces the former declaration ' +
      'from the next deployment on. Null declares nothing.',
  })
  access?: AppAccessInput | null;

  @MonthlyBudgetInput()
  monthlyBudget?: number | null;
}

@InputType({ description: 'A new app.' })
export class CreateAppInput extends UpdateAppInput {
  @Field(() => String, { description: 'Display name, 1 to 255 characters.' })
  override name!: string;
}
