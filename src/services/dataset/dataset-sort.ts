import { invalid } from '../../core/input-checks.ts';

const MAX_SORT_FIELDS = 20;

/** One name of a client's sort. It may be unknown. */
interface SortTerm {
  name: string;
  descending: boolean;
}

/**
 * Parses a comma-separated sort of rows or groups (docs/contract/datasets.md#data). A name may begin with `-` and have
 * blanks at its ends. A word is therefore first taken as a name exactly as it is written, then as `-` and a name, then
 * as both without the blanks around the word. Several words that form a name with the commas between them are that
 * name; the longest one counts. A repeated name counts where it comes first. Throws BAD_USER_INPUT for too many names.
 */
export const parseSortTerms = (sort: string | null | undefined, names: readonly string[]): SortTerm[] =>
  parseTermsOf(sort, sortNames(names));

/** Names in a sort, and the greatest number of words that one of them has. */
export interface SortNames {
  known: Pick<ReadonlySet<string>, 'has'>;
  maxWords: number;
}

/** Returns names for `parseTermsOf`. */
export const sortNames = (names: readonly string[]): SortNames => ({
  known: new Set(names),
  maxWords: names.reduce((most, name) => Math.max(most, name.split(',').length), 1),
});

/** Parses a sort like `parseSortTerms`, with names that are prepared once for many sorts. */
export function parseTermsOf(sort: string | null | undefined, { known, maxWords }: SortNames): SortTerm[] {
  const words = sort?.split(',') ?? [];
  const terms = new Map<string, SortTerm>();
  let count = 0;
  for (let at = 0; at < words.length;) {
    const { term, length } = termAt(words, at, maxWords, known);
    at += length;
    if (!term) continue;
    count += 1;
    if (count > MAX_SORT_FIELDS) throw invalid('sort', `must name at most ${MAX_SORT_FIELDS} fields`);
    if (!terms.has(term.name)) terms.set(term.name, term);
  }
  return [...terms.values()];
}

/** Returns the term that begins with a word, and its number of words; no term for a blank word. */
function termAt(
  words: readonly string[],
  at: number,
  maxWords: number,
  known: SortNames['known'],
): { term?: SortTerm; length: number } {
  for (let length = Math.min(maxWords, words.length - at); length > 0; length--) {
    const term = readingsOf(words.slice(at, at + length).join(',')).find(({ name }) => known.has(name));
    if (term) return { term, length };
  }
  const word = words[at]!;
  return word.trim() === '' ? { length: 1 } : { term: readingsOf(word).at(-1)!, length: 1 };
}

const readingsOf = (word: string): SortTerm[] =>
  [word, word.trim()].flatMap((text) => [
    { name: text, descending: false },
    ...(text.startsWith('-') ? [{ name: text.slice(1), descending: true }] : []),
  ]);
