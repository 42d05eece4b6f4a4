import { comparedText } from '../../../core/criteria/value.ts';
import type { IndexedField, Search } from '../../../core/dataset-index.ts';
import { badInput } from '../../../core/errors.ts';
import { fieldFinder, matchesAll } from '../search-parts.ts';
import { criteriaQuery } from './criteria-query.ts';
import type { Query } from './criteria-query.ts';
import { layoutOf } from './field-layout.ts';

/** Each word is looked for in each field, and an engine refuses a query of too many parts. */
const MAX_LOOKUPS = 10_000;

/** What a search looks at. */
export interface Matching {
  /** @throws badInput for a name that the generation does not have. */
  field(name: string): IndexedField;
  /** True for the documents of rows that match. */
  query: Query;
  /** It is true for all of them. */
  everything: boolean;
}

/** @throws badInput for names that the generation does not have, and for words that are too many for their fields. */
export function matchingRows(search: Search): Matching {
  const { generation, where, words, wordFields } = search;
  const field = fieldFinder(generation);
  const criteria = criteriaQuery(where, ({ name }) => layoutOf(field(name)));
  const query = { bool: { filter: [criteria, ...wordQueries(words, wordFields.map(field))] } };
  return { field, everything: matchesAll(search), query };
}

function wordQueries(words: readonly string[], fields: readonly IndexedField[]): Query[] {
  if (words.length === 0) return [];
  const kept = [...new Set(words.map(comparedText))];
  // What begins with a longer word begins with a shorter one too.
  const needed = kept.filter((word) => !kept.some((other) => other !== word && other.startsWith(word)));
  const keys = fields.flatMap((field) => layoutOf(field).words ?? []);
  if (needed.length * keys.length > MAX_LOOKUPS)
    throw badInput(`q has too many words to look for in ${keys.length} fields`);
  return needed.map((word) =>
    keys.length === 0
      ? { match_none: {} }
      : { bool: { should: keys.map((key) => ({ prefix: { [key]: { value: word } } })), minimum_should_match: 1 } },
  );
}
