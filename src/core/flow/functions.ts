/** The functions of expressions and how many arguments each takes (contract, section 7, `flow`). */
export const FUNCTIONS = {
  abs: { least: 1, most: 1 },
  /** To whole numbers, or to so many digits, half away from zero. */
  round: { least: 1, most: 2 },
  floor: { least: 1, most: 1 },
  ceil: { least: 1, most: 1 },
  lower: { least: 1, most: 1 },
  upper: { least: 1, most: 1 },
  /** Without the white space (ASCII) at both ends. */
  trim: { least: 1, most: 1 },
  /** In characters (code points). */
  length: { least: 1, most: 1 },
  /** Of values of any kind, in their JSON forms; null when one of them is. */
  concat: { least: 1, most: 50 },
  /** The first that is not null. */
  coalesce: { least: 1, most: 50 },
  /** `if(condition, then, else)`; an unknown condition takes the else, which is null when left out. */
  if: { least: 2, most: 3 },
  year: { least: 1, most: 1 },
  month: { least: 1, most: 1 },
  day: { least: 1, most: 1 },
  /** `dateDiff(unit, from, to)`: the whole units that lie between, negative when `to` is earlier. */
  dateDiff: { least: 3, most: 3 },
} as const;
export type FunctionName = keyof typeof FUNCTIONS;

/** What `dateDiff` counts. */
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
