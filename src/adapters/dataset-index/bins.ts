import type { FieldProfile, IndexedField } from '../../core/dataset-index.ts';

const BINS = 20;
/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;

/** Bins of equal width, from the lowest position on. */
export interface Bins {
  low: number;
  width: number;
  count: number;
  /** Returns the histogram with the number of values in each bin. */
  filled(counts: ReadonlyMap<number, number>): FieldProfile['histogram'];
}

/**
 * Divides the range of a field's values into at most twenty bins of equal width. Positions are the numbers themselves,
 * days, or milliseconds. A bin contains `from <= value < to`, the last one also `to`. Integers, days and milliseconds
 * have bins of integer width. Returns undefined where a double cannot represent the range or the
 * width.
 */
export function binsOf(field: IndexedField, low: number, high: number): Bins | undefined {
  if (!Number.isFinite(high - low)) return undefined;
  const whole = field.type !== 'number';
  const width = whole ? Math.max(1, Math.ceil((high - low + 1) / BINS)) : (high - low) / BINS;
  if (width === 0 && low !== high) return undefined;
  const count = low === high ? 1 : whole ? Math.ceil((high - low + 1) / width) : BINS;
  const edge = (i: number) => formOf(field, i === count && !whole ? high : low + i * width);
  return {
    low,
    width,
    count,
    filled: (counts) =>
      Array.from({ length: count }, (_, i) => ({ from: edge(i), to: edge(i + 1), count: counts.get(i) ?? 0 })),
  };
}

function formOf({ type }: IndexedField, position: number): unknown {
  if (type === 'date') return new Date(position * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
  return type === 'datetime' ? new Date(position).toISOString() : position;
}
