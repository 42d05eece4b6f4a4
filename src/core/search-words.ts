import { badInput } from './errors.ts';

const MAX_QUERY_WORDS = 100;

/** Letters that Unicode does not decompose into a base letter and a mark, though people search for them by the base letter. */
const FOLDED: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
  ȷ: 'j',
  ŋ: 'n',
  ŧ: 't',
  ĸ: 'k',
  ƀ: 'b',
  ƒ: 'f',
  ǥ: 'g',
  ɨ: 'i',
  ƶ: 'z',
  ς: 'σ',
};
const FOLDABLE = new RegExp(`[${Object.keys(FOLDED).join('')}]`, 'gu');

/** Combining marks, but for the two that make other letters of kana (か, が). */
const MARKS = /(?![\u3099\u309A])\p{M}+/gu;

const CJK = String.raw`[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}]`;
const WORD = new RegExp(String.raw`(?=[\p{L}\p{N}])${CJK}|(?:(?!${CJK})[\p{L}\p{N}])+`, 'gu');

const fold = (text: string) =>
  text
    .normalize('NFKD')
    .replace(MARKS, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(FOLDABLE, (letter) => FOLDED[letter]!);

/**
 * The distinct words of a text as every index keeps them: without case and accents, split at whatever is no letter or digit; a Chinese, Japanese or Korean
 * character is a word of its own.
 */
export const wordsOf = (text: string): string[] => [...new Set(fold(text).match(WORD))];

/** The words of a search `q` (contract, section 7). None means that everything matches. A `q` of more than 100 words is a bad input. */
export function parseSearchWords(q: string): string[] {
  const words = wordsOf(q);
  if (words.length > MAX_QUERY_WORDS) throw badInput(`q has more than ${MAX_QUERY_WORDS} words`);
  return words;
}

/** Whether every word begins a word of some of the texts. It is what an index must answer, said plainly. */
export function matchesWords(words: readonly string[], texts: readonly string[]): boolean {
  const found = texts.flatMap(wordsOf);
  return words.every((word) => found.some((candidate) => candidate.startsWith(word)));
}
