import { describe, expect, test } from 'vitest';
import { EMAIL_RULE, NAME_RULE, PASSWORD_RULE, QUERY_RULE, violation } from '../../src/core/input-rules.ts';

describe('rules of inputs', () => {
  test.for([
    [NAME_RULE, ' a\tb\n', undefined],
    [NAME_RULE, ' \t\n', 'must not be empty'],
    [NAME_RULE, 'a\u0001', 'must not contain control characters'],
    [NAME_RULE, null, 'must not be null'],
    [PASSWORD_RULE, '🚀'.repeat(11), 'must have at least 12 characters'],
    [PASSWORD_RULE, '🚀'.repeat(1024), undefined],
    [EMAIL_RULE, ' a@b ', undefined],
    [EMAIL_RULE, '', undefined],
    [EMAIL_RULE, 'a b@c', 'must be an e-mail address'],
  ] as const)('%j: %j', ([rule, value, expected]) => {
    expect(violation(rule, value)).toBe(expected);
  });

  test('patterns do not backtrack on long texts', () => {
    expect(violation(QUERY_RULE, `${'a'.repeat(199_998)}\u0001`)).toBe('must not contain control characters');
    expect(violation(QUERY_RULE, `${' '.repeat(199_998)}\u0001`)).toBe('must not contain control characters');
  });
});
