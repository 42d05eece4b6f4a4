/** Objects of a list without a limit. */
export const DEFAULT_LIST_LENGTH = 10;

/** How many objects: a number, or a variable's value. */
export type CostFactor = number | { variable: string; otherwise: number };

/** A field that answers objects: `times` of them, each with what is selected below it. */
export interface CostItem {
  times: CostFactor;
  below: Cost;
  /** The length of the lists directly below that have no limit of their own. */
  length: CostFactor;
  /** Whether the field is such a list itself: its times are then multiplied by the length that the field above says. */
  isOpen: boolean;
}

/** What a selection set costs: its own parts and, as arrays, those of its fragments. A fragment's array is shared by all its spreads. */
export type Cost = (CostItem | Cost)[];

interface CostSum {
  /** Known here. */
  fixed: number;
  /** For each element of a list without a limit of its own. */
  each: number;
}

/** Past every limit, and still a number to calculate with. */
const MAX_COMPUTED_COST = 1e12;

/** The cost for the values of the variables. Every fragment is computed once, however often it is spread. */
export function costOf(cost: Cost, variables: Readonly<Record<string, unknown>>): number {
  const { fixed, each } = sumCost(cost, variables, new Map());
  return Math.min(MAX_COMPUTED_COST, fixed + each * DEFAULT_LIST_LENGTH);
}

function sumCost(cost: Cost, variables: Readonly<Record<string, unknown>>, known: Map<Cost, CostSum>): CostSum {
  const before = known.get(cost);
  if (before) return before;
  const sum: CostSum = { fixed: 0, each: 0 };
  for (const part of cost) {
    if (Array.isArray(part)) {
      const fragment = sumCost(part, variables, known);
      sum.fixed += fragment.fixed;
      sum.each += fragment.each;
    } else {
      const below = sumCost(part.below, variables, known);
      const price = resolveFactor(part.times, variables) * (1 + below.fixed + below.each * resolveFactor(part.length, variables));
      if (part.isOpen) sum.each += price;
      else sum.fixed += price;
    }
  }
  sum.fixed = Math.min(MAX_COMPUTED_COST, sum.fixed);
  sum.each = Math.min(MAX_COMPUTED_COST, sum.each);
  known.set(cost, sum);
  return sum;
}

function resolveFactor(times: CostFactor, variables: Readonly<Record<string, unknown>>): number {
  if (typeof times === 'number') return times;
  const value = variables[times.variable];
  return value === undefined ? times.otherwise : lengthOf(value);
}

/** A limit as a length; whatever is no positive number is refused later and counts as usual until then. */
export const lengthOf = (value: unknown): number =>
  typeof value === 'number' && value >= 1 ? Math.min(value, MAX_COMPUTED_COST) : DEFAULT_LIST_LENGTH;
