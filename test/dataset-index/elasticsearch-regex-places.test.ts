import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openSearchEngine, type SearchEngineReader } from '../../src/adapters/dataset-index/elasticsearch/client.ts';
import { criteriaQuery } from '../../src/adapters/dataset-index/elasticsearch/criteria-query.ts';
import { searchDocuments } from '../../src/adapters/dataset-index/elasticsearch/search-requests.ts';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import type { Field } from '../../src/core/fields.ts';

const signal = new AbortController().signal;
const callers = ['ann', 'bob', 'eve'].map((userId) => ({ tenantId: userId, userId }));

test('a query with $regex keeps its place until the engine has responded, even if its client left', async () => {
  const engine = openSearchEngine({ url: 'http://127.0.0.1:1', prefix: 'x-' });
  const started: string[] = [];
  const responses = new Map<string, () => void>();
  const ask = (user: number, name: string, given = signal) =>
    engine.readAs(callers[user]!).askExpressions(
      (_client, options) =>
        new Promise<string>((resolve) => {
          // The request stays open, so that its end is known.
          expect(options.signal.aborted).toBe(false);
          started.push(name);
          responses.set(name, () => resolve(name));
        }),
      given,
    );
  const client = new AbortController();
  const left = ask(0, 'ann 1', client.signal);
  const second = ask(0, 'ann 2');
  const bobs = ask(1, 'bob 1');
  const eves = ask(2, 'eve 1');
  await setImmediate();
  expect(started).toEqual(['ann 1', 'bob 1']);
  client.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  await setImmediate();
  expect(started).toEqual(['ann 1', 'bob 1']);
  responses.get('bob 1')!();
  expect(await bobs).toBe('bob 1');
  await setImmediate();
  expect(started).toEqual(['ann 1', 'bob 1', 'eve 1']);
  responses.get('ann 1')!();
  await expect.poll(() => started).toEqual(['ann 1', 'bob 1', 'eve 1', 'ann 2']);
  responses.get('ann 2')!();
  responses.get('eve 1')!();
  expect(await Promise.all([second, eves])).toEqual(['ann 2', 'eve 1']);
  await engine.close();
});

test('only queries with $regex take these places', async () => {
  const field = { name: 't', type: 'string' } as Field;
  const asked: string[] = [];
  const answer = (name: string) => async () => {
    asked.push(name);
    return {};
  };
  const engine = { ask: answer('ask'), askExpressions: answer('askExpressions') } as unknown as SearchEngineReader;
  const indexed = () => ({ type: 'string', name: 't', column: 'c0' }) as const;
  for (const criteria of [
    { t: 'regexp' },
    { t: { $regex: 'a' } },
    { $or: [{ t: 'a' }, { t: { $not: { $regex: 'b' } } }] },
  ])
    await searchDocuments(
      engine,
      { id: 'x' } as never,
      { query: { bool: { filter: [criteriaQuery(parseCriteria(criteria, [field]), indexed)] } } },
      signal,
    );
  expect(asked).toEqual(['ask', 'askExpressions', 'askExpressions']);
});
