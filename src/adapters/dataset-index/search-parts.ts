import type { Generation, IndexedField, Search } from '../../core/dataset-index.ts';
import { badInput } from '../../core/errors.ts';

/** Finds fields of a generation by their names. @throws badInput for a name that it does not have. */
export function fieldFinder({ fields }: Generation): (name: string) => IndexedField {
  const byName = new Map(fields.map((field) => [field.name, field]));
  return (name) => {
    const found = byName.get(name);
    if (!found) throw badInput(`Unknown field "${name}"`);
    return found;
  };
}

/** Whether a search matches all rows of its generation. */
export const matchesAll = ({ where, words }: Search): boolean =>
  where.kind === 'and' && where.nodes.length === 0 && words.length === 0;

/** Bytes of a generation's mean row. */
export const meanRowBytes = ({ size, records }: Generation): number => size / Math.max(records, 1);
