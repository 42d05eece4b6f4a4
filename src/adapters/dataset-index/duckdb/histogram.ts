import type { FieldProfile, IndexedField } from '../../../core/dataset-index.ts';
import { binsOf, DAY_MS } from '../bins.ts';
import { doubleOf } from './criteria-sql.ts';
import type { Rows } from './profile.ts';

/** Counts values in bins. Numbers are doubles here, even for flagged fields. */
export async function histogram(field: IndexedField, rows: Rows): Promise<FieldProfile['histogram']> {
  const position = positionOf(field);
  const [extent] = await rows(`min(${position}), max(${position})`);
  const [low, high] = extent!.map(Number) as [number, number];
  const bins = binsOf(field, low, high);
  if (!bins) return [];
  const bin =
    bins.count === 1
      ? '0'
      : `least(${bins.count - 1}, CAST(floor((${position} - CAST('${low}' AS DOUBLE)) / CAST('${bins.width}' AS DOUBLE)) AS INTEGER))`;
  const counts = await rows(`${bin}, count(*)`, { further: [`${field.column} IS NOT NULL`], rest: 'GROUP BY 1' });
  return bins.filled(new Map(counts.map(([at, count]) => [Number(at), Number(count)])));
}

/** Returns SQL of a value's position as a double: the number itself, days, milliseconds. */
function positionOf(field: IndexedField): string {
  switch (field.type) {
    case 'date':
      return `CAST(epoch_ms(${field.column}) // ${DAY_MS} AS DOUBLE)`;
    case 'datetime':
      return `CAST(epoch_ms(${field.column}) AS DOUBLE)`;
    default:
      return doubleOf(field, field.column);
  }
}
