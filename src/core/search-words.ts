import { badInput } from './errors.ts';
import { normalizeText } from './normalize-text.ts';

const MAX_QUERY_WORDS = 100;
const MAX_QUERY_CHARACTERS = 10_000;

/** Base letters of letters that Unicode does not decompose into a base letter and a mark. */
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

/** A combining mark except the two that form other kana (か, が). */
const MARKS = /(?![\u3099\u309A])\p{M}/gu;

/** Characters of a word. Expressions for words of any length exceed the stack of the engine. */
const MAX_WORD = 10_000;
const CJK = String.raw`[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}]`;
const WORD = new RegExp(String.raw`(?=[\p{L}\p{N}])${CJK}|(?:(?!${CJK})[\p{L}\p{N}]){1,${MAX_WORD}}`, 'gu');

const fold = (text: string) =>
  normalizeText(normalizeText(text, 'NFKD').replace(MARKS, ''), 'NFC')
    .toLowerCase()
    .replace(FOLDABLE, (letter) => FOLDED[letter]!);

/**
 * Returns the distinct words of a text as every index stores them: without case and accents, separated by characters
 * other than letters and digits. A Chinese, Japanese or Korean character is a separate word
 * (docs/contract/datasets.md#search-words).
 */
export const wordsOf = (text: string): string[] => [...new Set(fold(text).match(WORD))];

/**
 * Returns the words of a search `q`. An empty list matches everything. Throws BAD_USER_INPUT for more than 100 words
 * or 10,000 characters.
 */
export function parseSearchWords(q: string): string[] {
  if (q.length > MAX_QUERY_CHARACTERS) throw badInput(`q has more than ${MAX_QUERY_CHARACTERS} characters`);
  const words = wordsOf(q);
  if (words.length > MAX_QUERY_WORDS) throw badInput(`q has more than ${MAX_QUERY_WORDS} words`);
  return words;
}

/** Returns whether every word is the beginning of a word of the texts. The reference for the search of every index. */
export function matchesWords(words: readonly string[], texts: readonly string[]): boolean {
  const found = texts.flatMap(wordsOf);
  return words.every((word) => found.some((candidate) => candidate.startsWith(word)));
}
