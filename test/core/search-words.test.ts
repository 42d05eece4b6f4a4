import { expect, test } from 'vitest';
import { matchesWords, parseSearchWords, wordsOf } from '../../src/core/search-words.ts';

test('words have neither case nor accents', () => {
  expect(wordsOf('Zoë CRÈME Łódź İstanbul ısı')).toEqual(['zoe', 'creme', 'lodz', 'istanbul', 'isi']);
  expect(wordsOf('Straße Æsir Œuvre Øre Đorđe Þór eð ΑΣ ς')).toEqual([
    'strasse',
    'aesir',
    'oeuvre',
    'ore',
    'dorde',
    'thor',
    'ed',
    'ασ',
    'σ',
  ]);
  expect(wordsOf('zoe\u0308')).toEqual(wordsOf('ZOË'));
});

test('words are split at whatever is no letter or digit, and repeated ones count once', () => {
  expect(wordsOf("O'Brien-Smith, a_b; 3.14 a  x² ＡＢＣ ﬁne")).toEqual([
    'o',
    'brien',
    'smith',
    'a',
    'b',
    '3',
    '14',
    'x2',
    'abc',
    'fine',
  ]);
  expect(wordsOf('😀 … —')).toEqual([]);
});

test('a Chinese, Japanese or Korean character is a word', () => {
  expect(wordsOf('東京タワー3F')).toEqual(['東', '京', 'タ', 'ワ', 'ー', '3f']);
  expect(wordsOf('がか서울abc')).toEqual(['が', 'か', '서', '울', 'abc']);
});

test('every word of q must begin some word of some text', () => {
  expect(matchesWords(parseSearchWords('mul zoe'), ['Zoë Müller'])).toBe(true);
  expect(matchesWords(parseSearchWords('mul zoe'), ['Müller', 'Zoë'])).toBe(true);
  expect(matchesWords(parseSearchWords('uller'), ['Zoë Müller'])).toBe(false);
  expect(matchesWords(parseSearchWords('京'), ['東京タワー'])).toBe(true);
  expect(matchesWords(parseSearchWords('zoe x'), ['Zoë'])).toBe(false);
});

test('a q without words matches everything, one of too many words is refused', () => {
  expect(matchesWords(parseSearchWords(' …! '), [])).toBe(true);
  expect(() => parseSearchWords(Array.from({ length: 101 }, (_, i) => `w${i}`).join(' '))).toThrow(
    expect.objectContaining({ status: 400 }),
  );
});
