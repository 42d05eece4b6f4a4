import { expect, vi } from 'vitest';
import { test } from '../support/fixture.ts';

const parse = JSON.parse;
const MARK = 'x'.repeat(100_000);

/** Runs `work` and returns the turns of the event loop in which texts with `MARK` were parsed. */
async function turnsOfParsing(work: () => Promise<unknown>): Promise<number[]> {
  let turn = 0;
  let next = setImmediate(function count() {
    turn += 1;
    next = setImmediate(count);
  });
  const turns: number[] = [];
  const spy = vi.spyOn(JSON, 'parse').mockImplementation((text, ...rest) => {
    if (text.includes(MARK)) turns.push(turn);
    return parse(text, ...rest) as unknown;
  });
  try {
    await work();
  } finally {
    spy.mockRestore();
    clearImmediate(next);
  }
  return turns;
}

test.for([
  ['/api/tags', { name: MARK }, 400],
  ['/graphql', { query: '{ me { id } }', variables: { unused: MARK } }, 200],
] as const)(
  'of large bodies of %s that arrive together, one is parsed in a turn of the event loop',
  async ([url, body, status], { service, ann }) => {
    await service.app.inject({ method: 'POST', url, headers: ann.headers, payload: body });
    const statuses: number[] = [];
    const turns = await turnsOfParsing(async () => {
      const request = { method: 'POST', url, headers: ann.headers, payload: body } as const;
      const responses = await Promise.all(Array.from({ length: 8 }, () => service.app.inject(request)));
      statuses.push(...responses.map(({ statusCode }) => statusCode));
    });
    expect(statuses).toEqual(Array.from({ length: 8 }, () => status));
    expect(turns.length).toBe(8);
    expect(new Set(turns).size).toBe(8);
  },
);
