/** Cost of a field that reads all rows of a dataset. */
export const FULL_SCAN_COST = 200;

/** Assumed number of items in a list without a limit. */
export const DEFAULT_LIST_LENGTH = 10;

/** The number of objects that a field returns: a constant, or the value of a variable. */
export type CostFactor = number | { variable: string; defaultValue: number };

/** A field that returns objects: their number, and the cost of the selection below each of them. */
export interface CostItem {
  count: CostFactor;
  below: Cost;
  /** The length of lists directly below that have no limit of their own. */
  length: CostFactor;
  /** Whether the field is such a list itself. Its number is then multiplied by the `length` of the field above. */
  isOpen: boolean;
}

/**
 * The cost of a selection set: its own items and, as arrays, the items of its fragments. All spreads of a fragment
 * share its array.
 */
export type Cost = (CostItem | Cost)[];

interface CostSum {
  /** Objects that do not depend on the field above. */
  fixed: number;
  /** Number of objects for each item of a list that has no limit. */
  each: number;
}

/** Upper bound of a computed cost: above every limit, and small enough to calculate with. */
const MAX_COMPUTED_COST = 1e12;

/** Returns the cost for these variables. Each fragment is computed once, however often it is spread. */
export function costOf(cost: Cost, variables: Readonly<Record<string, unknown>>): number {
  const { fixed, each } = sumCost(cost, variables, new Map());
  return Math.min(MAX_COMPUTED_COST, fixed + each * DEFAULT_LIST_LENGTH);
}

function sumCost(cost: Cost, variables: Readonly<Record<string, unknown>>, known: Map<Cost, CostSum>): CostSum {
  const computed = known.get(cost);
  if (computed) return computed;
  const sum: CostSum = { fixed: 0, each: 0 };
  for (const item of cost) {
    if (Array.isArray(item)) {
      const fragment = sumCost(item, variables, known);
      sum.fixed += fragment.fixed;
      sum.each += fragment.each;
    } else {
      const below = sumCost(item.below, variables, known);
      const itemCost =
        resolveFactor(item.count, variables) * (1 + below.fixed + below.each * resolveFactor(item.length, variables));
      if (item.isOpen) sum.each += itemCost;
      else sum.fixed += itemCost;
    }
  }
  sum.fixed = Math.min(MAX_COMPUTED_COST, sum.fixed);
  sum.each = Math.min(MAX_COMPUTED_COST, sum.each);
  known.set(cost, sum);
  return sum;
}

function resolveFactor(factor: CostFactor, variables: Readonly<Record<string, unknown>>): number {
  if (typeof factor === 'number') return factor;
  const value = variables[factor.variable];
  return value === undefined ? factor.defaultValue : lengthOf(value);
}

/** Returns the length of a list by its limit. An invalid limit counts as the default length: it is refused later. */
export const lengthOf = (value: unknown): number =>
  typeof value === 'number' && value >= 1 ? Math.min(value, MAX_COMPUTED_COST) : DEFAULT_LIST_LENGTH;
