import type { FieldProfile, IndexedField } from '../../../core/dataset-index.ts';
import { comparable } from './criteria-sql.ts';
import type { Rows } from './profile.ts';

const BINS = 20;
const DAY_MS = 86_400_000;

/**
 * Values counted in at most twenty bins of one width, from the least value to the greatest. A bin holds `from <= value < to`, the last one its `to` too.
 * Whole numbers, days and milliseconds have bins of whole widths. Numbers are numbers here even where a field is flagged.
 */
export async function histogram(field: IndexedField, rows: Rows): Promise<FieldProfile['histogram']> {
  const position = positionOf(field);
  const [extent] = await rows(`min(${position}), max(${position})`);
  const [low, high] = extent!.map(Number) as [number, number];
  if (!Number.isFinite(high - low)) return [];
  const whole = field.type !== 'number';
  const width = whole ? Math.max(1, Math.ceil((high - low + 1) / BINS)) : (high - low) / BINS;
  const bins = low === high ? 1 : whole ? Math.ceil((high - low + 1) / width) : BINS;
  const bin = bins === 1 ? '0' : `least(${bins - 1}, CAST(floor((${position} - CAST('${low}' AS DOUBLE)) / CAST('${width}' AS DOUBLE)) AS INTEGER))`;
  const found = new Map((await rows(`${bin}, count(*)`, `AND ${field.column} IS NOT NULL GROUP BY 1`)).map(([at, count]) => [Number(at), Number(count)]));
  const edge = (i: number) => formOf(field, i === bins && !whole ? high : low + i * width);
  return Array.from({ length: bins }, (_, i) => ({ from: edge(i), to: edge(i + 1), count: found.get(i) ?? 0 }));
}

/** A value's place on a line, as a double: the number itself, days, milliseconds. */
function positionOf(field: IndexedField): string {
  switch (field.type) {
    case 'date': return `CAST(epoch_ms(${field.column}) // ${DAY_MS} AS DOUBLE)`;
    case 'datetime': return `CAST(epoch_ms(${field.column}) AS DOUBLE)`;
    default: return `CAST(${comparable(field, field.column)} AS DOUBLE)`;
  }
}

function formOf({ type }: IndexedField, position: number): unknown {
  if (type === 'date') return new Date(position * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
  return type === 'datetime' ? new Date(position).toISOString() : position;
}
