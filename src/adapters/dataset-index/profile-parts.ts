import type { FieldType } from '../../core/fields.ts';

/** Distinct values are counted exactly up to this number. */
export const EXACT_DISTINCT = 10_000;
/** Number of frequent values in a profile. */
export const TOP = 10;

/** Types with minimum and maximum, with a mean, and with frequent values. */
export const ORDERED: readonly FieldType[] = ['integer', 'number', 'date', 'datetime'];
export const NUMERIC: readonly FieldType[] = ['integer', 'number'];
export const COUNTED: readonly FieldType[] = ['string', 'integer', 'number', 'boolean', 'date', 'datetime'];

/** Returns a number that an engine computed; null when there was nothing to compute, or when it is not finite. */
export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;
