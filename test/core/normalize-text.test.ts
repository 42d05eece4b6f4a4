import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normalizeText } from '../../src/core/normalize-text.ts';
import { listFiles } from '../support/documents.ts';

const FORMS = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const;
/** All combining marks of Unicode, and the letters that NFKD replaces by marks. */
const MARKS = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((character) =>
  /^[\p{M}\uFF9E\uFF9F]$/u.test(character),
);
/** Texts before marks: characters that are composed or compose with marks, and halves of a surrogate pair. */
const BASES = ['', 'a', 'é', 'ǖ', 'か', 'が', '\uFF76', 'ཀ', 'क', '각', '😀', '\uD800', '\uDC00', ' '];

test('the normal form of a text with long runs of marks is the one of String.prototype.normalize', () => {
  const run = fc.array(fc.constantFrom(...MARKS), { maxLength: 100 }).map((marks) => marks.join(''));
  const text = fc
    .array(fc.tuple(fc.constantFrom(...BASES), run), { maxLength: 3 })
    .map((parts) => parts.flat().join(''));
  fc.assert(
    fc.property(text, fc.constantFrom(...FORMS), (value, form) => {
      expect(normalizeText(value, form)).toBe(value.normalize(form));
    }),
    { numRuns: 2000 },
  );
  for (const form of FORMS) expect(normalizeText(MARKS.join(''), form)).toBe(MARKS.join('').normalize(form));
});

/** Marks of two combining classes, in canonical order. */
const ORDERED = [
  ['\u0316', '\u0301'],
  ['\u0334', '\u{1D165}'],
  ['\u035D', '\u0345'],
] as const;

test('millions of marks have a normal form, in time that grows with their number', () => {
  const count = 1_000_000;
  for (const [first, second] of ORDERED)
    for (const form of FORMS) {
      const normal = normalizeText(`x${`${second}${first}`.repeat(count)}`, form);
      expect(normal === `x${first.repeat(count)}${second.repeat(count)}`).toBe(true);
    }
});

test('product code normalizes texts by normalizeText alone', () => {
  const product = listFiles('src/*.ts', 'entities/*.ts', 'resolvers/*.ts', 'rest-bridge/*.ts');
  const calls = product.flatMap((name) =>
    (readFileSync(name, 'utf8').match(/.*\.\s*normalize\b.*/g) ?? []).map((line) => `${name}: ${line.trim()}`),
  );
  expect(calls.filter((call) => !call.startsWith('src/core/normalize-text.ts: '))).toEqual([
    // A page of pdf-lib.
    'src/adapters/browser/lay-letterhead.ts: page.node.normalize();',
  ]);
});
