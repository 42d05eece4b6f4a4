import { expect, test } from 'vitest';
import { inchesOf } from '../../src/core/pdf-printer.ts';

test.each([
  ['25.4mm', 1],
  ['2.54cm', 1],
  ['101.6q', 1],
  ['1in', 1],
  ['6PC', 1],
  ['72pt', 1],
  [' 96px ', 1],
  ['.5in', 0.5],
  ['0', 0],
  ['0mm', 0],
])('the length %s has %d inches', (length, inches) => {
  expect(inchesOf(length)).toBeCloseTo(inches, 10);
});

test.each([
  '',
  '1',
  '-1mm',
  '1em',
  '50%',
  'auto',
  '1 mm',
  'mm',
  '1e3mm',
  '1.mm',
  '999999mm',
  'calc(1mm)',
  '1mm;',
  'NaNmm',
])('the text "%s" is not a length', (text) => {
  expect(inchesOf(text)).toBeNull();
});
