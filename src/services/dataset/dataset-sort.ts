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
 * without the blanks around the word. A name that is repeated counts where it comes first. Throws BAD_USER_INPUT for
 * too many names.
 */
export function parseSortTerms(sort: string | null | undefined, names: readonly string[]): SortTerm[] {
  const words = sort?.split(',').filter((word) => word.trim() !== '' || names.includes(word)) ?? [];
  if (words.length > MAX_SORT_FIELDS) throw invalid('sort', `must name at most ${MAX_SORT_FIELDS} fields`);
  const terms = new Map<string, SortTerm>();
  for (const word of words) {
    const term = parseTerm(word, names);
    if (!terms.has(term.name)) terms.set(term.name, term);
  }
  return [...terms.values()];
}

function parseTerm(word: string, names: readonly string[]): SortTerm {
  const readings = [word, word.trim()].flatMap((text) => [
    { name: text, descending: false },
    ...(text.startsWith('-') ? [{ name: text.slice(1), descending: true }] : []),
  ]);
  return readings.find(({ name }) => names.includes(name)) ?? readings.at(-1)!;
}
