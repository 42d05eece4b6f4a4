import type { FieldProfile, IndexedField } from '../../core/dataset-index.ts';

const BINS = 20;
/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;

/** Bins of one width, from a least position on. */
export interface Bins {
  low: number;
  width: number;
  count: number;
  /** The histogram with the number of values in each bin. */
  filled(counts: ReadonlyMap<number, number>): FieldProfile['histogram'];
}

/**
 * At most twenty bins of one width, from the least position of a field's values to the greatest: numbers themselves, days, milliseconds. A bin holds `from <= value < to`,
 * the last one its `to` too. Whole numbers, days and milliseconds have bins of whole widths. Undefined where a double cannot say the distance.
 */
export function binsOf(field: IndexedField, low: number, high: number): Bins | undefined {
  if (!Number.isFinite(high - low)) return undefined;
  const whole = field.type !== 'number';
  const width = whole ? Math.max(1, Math.ceil((high - low + 1) / BINS)) : (high - low) / BINS;
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
