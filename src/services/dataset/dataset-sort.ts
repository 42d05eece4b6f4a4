import { invalid } from '../../core/input-checks.ts';

const MAX_SORT_FIELDS = 20;

/** One name of a client's sort. It may be unknown. */
interface SortTerm {
  name: string;
  descending: boolean;
}

/**
 * Parses a comma-separated sort of rows or groups (docs/contract.md#data). A word is first taken as a name exactly as
 * it is written, because a name may begin with `-` and have blanks at its ends, then as `-` and a name, then both
 * without the blanks around the word. Words that are a name together, with the commas between them, are that name: of
 * several the longest. A name that is repeated counts where it comes first. Throws BAD_USER_INPUT for too many names.
 */
export function parseSortTerms(sort: string | null | undefined, names: readonly string[]): SortTerm[] {
  const known = new Set(names);
  const words = sort?.split(',') ?? [];
  const maxWords = Math.max(1, ...names.map((name) => name.split(',').length));
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
  known: ReadonlySet<string>,
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
