import { expect, test } from 'vitest';
import type { Context } from '../../src/core/context.ts';
import { queryIndex } from '../../src/services/dataset/index-query.ts';

/** Creates a request of a user, which queries the index. `complete` ends its response. */
function openRequest(userId: string, started: string[]) {
  const ends: (() => void)[] = [];
  const ctx = {
    platform: { index: {} },
    request: { signal: new AbortController().signal, onComplete: (end: () => void) => ends.push(end) },
    viewer: { tenantId: 'tenant', userId },
  } as unknown as Context;
  return {
    query: (name: string) => queryIndex(ctx, async () => void started.push(name)),
    complete: () => ends.forEach((end) => end()),
  };
}

test('at most four requests of a user have rows in memory, until their responses are complete', async () => {
  const started: string[] = [];
  const own = Array.from({ length: 6 }, () => openRequest('ann', started));
  const other = openRequest('bob', started);
  const queries = own.map(({ query }, n) => query(`ann ${n}`));
  await Promise.all(queries.slice(0, 4));
  await Promise.all([own[0]!.query('ann 0 again'), other.query('bob')]);
  expect(started.toSorted()).toEqual(['ann 0', 'ann 0 again', 'ann 1', 'ann 2', 'ann 3', 'bob']);
  own[1]!.complete();
  await queries[4];
  expect(started.at(-1)).toBe('ann 4');
  for (const { complete } of [...own, other]) complete();
  await queries[5];
  expect(started.at(-1)).toBe('ann 5');
  own[5]!.complete();
});
