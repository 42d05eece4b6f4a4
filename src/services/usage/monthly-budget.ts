import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { checkNoApp } from '../../core/viewer.ts';
import { requireBilling } from './require-billing.ts';

/** Credits with at most nine digits before the point and six after it, which a JSON number represents exactly. */
const CREDITS = /^\d{1,9}(?:\.\d{1,6})?$/;

/** A row that usage is charged to. */
interface BudgetedRow {
  monthlyBudget?: number | null;
}

/**
 * Sets the monthly budget of a row, which was loaded for a change or is new, to the budget of an input. Undefined does
 * not change it. Throws BAD_USER_INPUT for anything but an amount of credits. Unless the budget stays the same, throws
 * FORBIDDEN without `billing:manage` and for handlers of apps, and CONFLICT for a draft, which has the budget of its
 * original.
 */
export function setMonthlyBudget({ viewer }: Context, row: BudgetedRow, budget: number | null | undefined): void {
  if (budget === undefined) return;
  if (budget !== null && !CREDITS.test(String(budget)))
    throw invalid('monthlyBudget', 'must be from 0 to 999999999.999999, with at most six decimals');
  if (budget === (row.monthlyBudget ?? null)) return;
  checkNoApp(viewer);
  requireBilling(viewer);
  if ('parentId' in row && row.parentId) throw conflict('A draft has the monthly budget of its original');
  row.monthlyBudget = budget;
}
