import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LOCKS } from '../../src/core/locks.ts';

test('no number locks two things', () => {
  const numbers = Object.values(LOCKS);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test('the service locks numbers of one list only', () => {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'src'], {
    encoding: 'utf8',
  });
  const locking = files
    .split('\n')
    .filter((file) => file.endsWith('.ts') && /advisory(_xact)?_(un)?lock/.test(readFileSync(file, 'utf8')))
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  const byNumber = locking.filter(
    ({ text }) => /\b\d{1,3}(_?\d{3}){2}\b(?<!_000_000)/.test(text) || /_lock(_shared)?\(\d/.test(text),
  );
  expect(locking.length).toBeGreaterThan(8);
  expect(byNumber.map(({ file }) => file)).toEqual(['src/core/locks.ts']);
});
