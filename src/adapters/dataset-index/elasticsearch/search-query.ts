import { and } from '../../../core/criteria/build.ts';
import { ALL } from '../../../core/criteria/tree.ts';
import { comparedText } from '../../../core/criteria/value.ts';
import type { IndexedField, Search } from '../../../core/dataset-index.ts';
import { badInput } from '../../../core/errors.ts';
import { fieldFinder, isAll, matchesAll } from '../search-parts.ts';
import { criteriaQuery } from './criteria-query.ts';
import type { Query } from './criteria-query.ts';
import { layoutOf } from './field-layout.ts';

/**
 * Maximum number of look-ups. Each word is looked up in each field, and an engine rejects a query of too many clauses.
 */
const MAX_LOOKUPS = 10_000;

/** A compiled search. */
export interface Matching {
  /** Returns a field by name. Throws BAD_USER_INPUT for an unknown name. */
  field(name: string): IndexedField;
  /** True for the documents of matching rows. */
  query: Query;
  /** Whether it is true for all of them. */
  everything: boolean;
  /** Whether other rows are hidden from the viewer. */
  restricted: boolean;
}

/** Compiles a search. Throws BAD_USER_INPUT for unknown names, and for more words than the number of fields permits. */
export function matchingRows(search: Search): Matching {
  const { generation, visible = ALL, where, words, wordFields } = search;
  const field = fieldFinder(generation);
  const criteria = criteriaQuery(and([visible, where]), ({ name }) => field(name));
  const query = { bool: { filter: [criteria, ...wordQueries(words, wordFields.map(field))] } };
  return { field, everything: matchesAll(search), restricted: !isAll(visible), query };
}

function wordQueries(words: readonly string[], fields: readonly IndexedField[]): Query[] {
  if (words.length === 0) return [];
  const kept = [...new Set(words.map(comparedText))];
  // A field that has a longer word also matches its prefix.
  const needed = kept.filter((word) => !kept.some((other) => other !== word && other.startsWith(word)));
  const keys = fields.flatMap((field) => layoutOf(field).words ?? []);
  if (needed.length * keys.length > MAX_LOOKUPS)
    throw badInput(`q has too many words for a search in ${keys.length} fields`);
  return needed.map((word) =>
    keys.length === 0
      ? { match_none: {} }
      : { bool: { should: keys.map((key) => ({ prefix: { [key]: { value: word } } })), minimum_should_match: 1 } },
  );
}
