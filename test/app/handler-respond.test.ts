import { describe, expect } from 'vitest';
import type { AppResponse } from '../../src/core/app-run.ts';
import { test as base } from '../support/fixture.ts';
import { deployApp, withBodies, type DeployedApp } from './handler-fixture.ts';

/** Statements of handlers, the response that they send, and how they end then. */
const SENT = {
  object: ['await respond({ a: 1 });', 200, '{"a":1}', 'application/json; charset=utf-8'],
  list: ['await respond([1]);', 200, '[1]', 'application/json; charset=utf-8'],
  text: ['await respond("hi");', 200, 'hi', 'text/plain; charset=utf-8'],
  bytes: ['await respond(new Uint8Array([104, 105]));', 200, 'hi', 'application/octet-stream'],
  nothing: ['await respond(undefined);', 204, '', undefined],
  nullValue: ['await respond(null);', 200, 'null', 'application/json; charset=utf-8'],
  fraction: ['await respond(1.5);', 200, '1.5', 'application/json; charset=utf-8'],
  response: ['await respond(respond(202, "later", { "x-app-a": "b" }));', 202, 'later', 'text/plain; charset=utf-8'],
  unawaited: ['respond("soon");', 200, 'soon', 'text/plain; charset=utf-8'],
  returned: ['return respond("soon");', 200, 'soon', 'text/plain; charset=utf-8'],
  again: [
    'try { await respond(respond(200, 1, { "bad name": "x" })); } catch {} await respond("second");',
    200,
    'second',
    'text/plain; charset=utf-8',
  ],
} as const;

/** Statements that fail after their response. */
const FAILED = {
  twice: ['await respond("1"); await respond("2");', 'The handler has responded already'],
  twiceUnawaited: ['respond("1"); respond("2");', 'The handler has responded already'],
  twiceCaught: ['await respond("1"); try { await respond("2"); } catch {}', 'The handler has responded already'],
  value: ['await respond("1"); return 2;', 'The handler has responded already, and ends with another response'],
  nullAfter: ['await respond("1"); return null;', 'The handler has responded already, and ends with another response'],
  thrown: [
    'await respond("1"); throw respond(404);',
    'The handler has responded already, and ends with another response',
  ],
  error: ['respond("1"); throw new Error("late");', /^server\/error\.js:\d+: late$/],
} as const;

/** Statements that send no response, and how they fail. */
const UNSENT = {
  header: ['await respond(respond(200, 1, { "bad name": "x" }));', /The response has an invalid header "bad name"/],
  headerUnawaited: ['respond(respond(200, 1, { "bad name": "x" }));', /The response has an invalid header "bad name"/],
  early: ['await respond(respond(101));', /The status 101 cannot end a response/],
  large: ['await respond("x".repeat(6_000_001));', /The response has more than 6000000 bytes/],
  cyclic: ['const a = {}; a.a = a; await respond(a);', /circular/i],
  none: ['await respond();', /respond\(status, body, headers\) takes a status from 100 to 599/],
  status: ['await respond(99);', /respond\(status, body, headers\) takes a status from 100 to 599/],
  many: ['await respond({}, 1);', /respond\(status, body, headers\) takes a status from 100 to 599/],
} as const;

const sources = (table: Record<string, readonly unknown[]>) =>
  Object.fromEntries(Object.entries(table).map(([name, [source]]) => [name, source as string]));

const test = base.extend<{ app: DeployedApp }>({
  app: [
    async ({ admin, service }, use) => {
      const built = { built: 'const response = respond(201, "built"); return response;' };
      const files = withBodies({ ...sources(SENT), ...sources(FAILED), ...sources(UNSENT), ...built });
      await use(await deployApp({ admin, service }, 'Respond', files));
    },
    { scope: 'file' },
  ],
});

const textOf = ({ body }: AppResponse) => Buffer.from(body).toString();

describe('respond with one value sends it:', () => {
  test.for(Object.entries(SENT))('%s', async ([name, [, status, text, type]], { app }) => {
    const { result } = await app.run(`server/${name}.js`, { method: 'post' });
    expect(result).not.toHaveProperty('lateFailure');
    if ('failure' in result) throw result.failure;
    expect([result.response.status, textOf(result.response), result.response.headers['content-type']]).toEqual([
      status,
      text,
      type,
    ]);
  });

  test('not with an integer', async ({ app }) => {
    expect(await app.respond('server/built.js', { method: 'post' })).toMatchObject({ status: 201, text: 'built' });
  });
});

test.for(Object.entries(FAILED))('a run fails after its response: %s', async ([name, [, message]], { app }) => {
  const { result } = await app.run(`server/${name}.js`, { method: 'post' });
  if ('failure' in result) throw result.failure;
  expect(textOf(result.response)).toBe('1');
  expect(result.lateFailure).toMatchObject({
    status: 500,
    code: 'UPSTREAM_FAILED',
    message: expect.stringMatching(message),
  });
});

test.for(Object.entries(UNSENT))('nothing is sent: %s', async ([name, [, message]], { app }) => {
  expect(await app.fail(`server/${name}.js`, { method: 'post' })).toMatchObject({
    status: 500,
    code: 'UPSTREAM_FAILED',
    message: expect.stringMatching(message),
  });
});
