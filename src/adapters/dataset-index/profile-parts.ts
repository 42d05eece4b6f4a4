import type { FieldType } from '../../core/fields.ts';

/** Distinct values are counted exactly up to this number. */
export const EXACT_DISTINCT = 10_000;
/** Number of frequent values in a profile. */
export const TOP = 10;

/** Types with minimum and maximum, with a mean, and with frequent values. */
export const ORDERED: readonly FieldType[] = ['integer', 'number', 'date', 'datetime'];
export const NUMERIC: readonly FieldType[] = ['integer', 'number'];
export const COUNTED: readonly FieldType[] = ['string', 'integer', 'number', 'boolean', 'date', 'datetime'];

/** Numbers of a greater magnitude are scaled before their squares are added. */
const MAX_SQUARED = 2 ** 480;
const LARGE_SCALE = 2 ** -600;

/**
 * Returns the factor, a power of two, by which numbers between `min` and `max` are multiplied so that neither their sum
 * nor the sum of their squares exceeds a double. Null when one of them exceeds it itself.
 */
export function scaleFor(min: number, max: number): number | null {
  const size = Math.max(Math.abs(min), Math.abs(max));
  return Number.isFinite(size) ? (size > MAX_SQUARED ? LARGE_SCALE : 1) : null;
}

/** Returns a number that an engine computed; null when there was nothing to compute, or when it is not finite. */
export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;
