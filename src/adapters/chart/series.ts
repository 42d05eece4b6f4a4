import type { Picture } from '../../core/visual/picture.ts';
import { label, toNumber } from './text.ts';

/** Maximum number of series whose colours are still distinguishable. */
const MAX_SERIES = 20;

/** Groups of a bar or line chart: a number for every category and series, null for a missing group. */
export interface Pivot {
  /** Categories of the axis, in the order of the data. */
  places: unknown[];
  series: { name: string; values: (number | null)[] }[];
  /** Total number of series, including those that are not drawn. */
  total: number;
}

/** Turns groups (`x`, `series`?, number) into series. Of many series those with the largest numbers are used. */
export function pivotGroups({ columns, rows }: Picture['data']): Pivot {
  const grouped = columns.length > 2;
  const at = new Map<unknown, number>();
  for (const [x] of rows) if (!at.has(x)) at.set(x, at.size);
  const found = new Map<unknown, { name: string; values: (number | null)[]; weight: number }>();
  for (const row of rows) {
    const key = grouped ? row[1] : '';
    const value = toNumber(row.at(-1));
    let series = found.get(key);
    if (!series)
      found.set(
        key,
        (series = {
          name: grouped ? label(key, columns[1]!.type) : columns.at(-1)!.label,
          values: Array.from({ length: at.size }, () => null),
          weight: 0,
        }),
      );
    series.values[at.get(row[0])!] = value;
    series.weight += Math.abs(value ?? 0);
  }
  const largest = new Set([...found.values()].toSorted((a, b) => b.weight - a.weight).slice(0, MAX_SERIES));
  return {
    places: [...at.keys()],
    series: [...found.values()].filter((series) => largest.has(series)),
    total: found.size,
  };
}
