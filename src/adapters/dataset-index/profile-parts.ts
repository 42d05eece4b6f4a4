import type { FieldType } from '../../core/fields.ts';

/** Different values are counted exactly up to so many. */
export const EXACT_DISTINCT = 10_000;
/** Frequent values that a profile names. */
export const TOP = 10;

/** Types with a least and a greatest value, with a mean, and with frequent values. */
export const ORDERED: readonly FieldType[] = ['integer', 'number', 'date', 'datetime'];
export const NUMERIC: readonly FieldType[] = ['integer', 'number'];
export const COUNTED: readonly FieldType[] = ['string', 'integer', 'number', 'boolean', 'date', 'datetime'];

/** A number that an engine computed; null when there was nothing to compute, or no double can say it. */
export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;
