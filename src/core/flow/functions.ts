/** Functions of expressions (docs/contract/datasets.md#flow) with their minimum and maximum number of arguments. */
export const FUNCTIONS = {
  abs: { least: 1, most: 1 },
  /** Rounds to whole numbers, or to a number of digits, half away from zero. */
  round: { least: 1, most: 2 },
  floor: { least: 1, most: 1 },
  ceil: { least: 1, most: 1 },
  lower: { least: 1, most: 1 },
  upper: { least: 1, most: 1 },
  /** Removes ASCII white space at both ends. */
  trim: { least: 1, most: 1 },
  /** Number of characters (code points). */
  length: { least: 1, most: 1 },
  /** Concatenates values of any type in their JSON forms; null if one of them is null. */
  concat: { least: 1, most: 50 },
  /** Returns the first value that is not null. */
  coalesce: { least: 1, most: 50 },
  /** `if(condition, then, else)`. An unknown condition selects `else`, which defaults to null. */
  if: { least: 2, most: 3 },
  year: { least: 1, most: 1 },
  month: { least: 1, most: 1 },
  day: { least: 1, most: 1 },
  /** `dateDiff(unit, from, to)`: number of whole units between two times, negative when `to` is earlier. */
  dateDiff: { least: 3, most: 3 },
} as const;
export type FunctionName = keyof typeof FUNCTIONS;

/** Units of `dateDiff`. */
export const DATE_UNITS = [
  'millisecond',
  'second',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
] as const;
export type DateUnit = (typeof DATE_UNITS)[number];
