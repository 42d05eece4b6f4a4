import { expect, test } from 'vitest';
import { isUuid, newId } from '../../src/core/id.ts';

test('ids of one process sort by creation, also within a millisecond', () => {
  const ids = Array.from({ length: 1000 }, newId);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(1000);
  expect(ids.every((id) => isUuid(id) && id[14] === '7' && /[89ab]/.test(id[19]!))).toBe(true);
});
