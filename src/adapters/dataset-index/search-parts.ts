import { ALL } from '../../core/criteria/tree.ts';
import type { CriteriaNode } from '../../core/criteria/tree.ts';
import type { Generation, IndexedField, Search } from '../../core/dataset-index.ts';
import { badInput } from '../../core/errors.ts';

/** Returns a look-up of a generation's fields by name. It throws BAD_USER_INPUT for an unknown name. */
export function fieldFinder({ fields }: Generation): (name: string) => IndexedField {
  const byName = new Map(fields.map((field) => [field.name, field]));
  return (name) => {
    const found = byName.get(name);
    if (!found) throw badInput(`Unknown field "${name}"`);
    return found;
  };
}

/** Returns whether criteria match all rows. */
export const isAll = (node: CriteriaNode): boolean => node.kind === 'and' && node.nodes.length === 0;

/** Returns whether a search matches all rows of its generation. */
export const matchesAll = ({ visible = ALL, where, words }: Search): boolean =>
  isAll(visible) && isAll(where) && words.length === 0;

/** Returns the mean number of bytes of a generation's rows. */
export const meanRowBytes = ({ size, records }: Generation): number => size / Math.max(records, 1);
