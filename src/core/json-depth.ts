/** Deeper JSON is refused, because later code walks it recursively. */
export const MAX_JSON_DEPTH = 256;

/** Returns whether objects and lists nest deeper than `levels`. */
export const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1)));
