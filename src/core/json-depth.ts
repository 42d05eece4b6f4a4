/** Deeper JSON is refused, because later code walks it recursively. */
export const MAX_JSON_DEPTH = 256;

/** Returns whether objects and lists nest deeper than `levels`. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  // Without copies of long lists, which took most of the time.
  if (Array.isArray(value)) return value.some((inner) => isDeeperThan(inner, levels - 1));
  for (const key in value) if (isDeeperThan((value as Record<string, unknown>)[key], levels - 1)) return true;
  return false;
}
