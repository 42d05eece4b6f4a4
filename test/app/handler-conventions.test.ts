import { describe, expect } from 'vitest';
import { test as base } from '../support/fixture.ts';
import { deployApp, post, withBodies, type DeployedApp } from './handler-fixture.ts';

/** Expressions that handlers throw, and the message of the failure. */
const THROWN: Record<string, [source: string, message: string]> = {
  object: ['{ a: 1, b: ["x"] }', '{"a":1,"b":["x"]}'],
  list: ['[1, { a: 2 }]', '[1,{"a":2}]'],
  bare: ['Object.assign(Object.create(null), { a: 1 })', '{"a":1}'],
  instance: ['new (class Refusal { code = 7 })()', '{"code":7}'],
  ownText: ['{ a: 1, toString: () => "in words" }', 'in words'],
  cyclic: ['(() => { const a = {}; a.a = a; return a; })()', '[object Object]'],
  text: ['"plain"', 'plain'],
  number: ['7', '7'],
  nothing: ['undefined', 'undefined'],
  nullValue: ['null', 'null'],
  error: ['new TypeError("typed")', 'TypeError: typed'],
};

/** Values that handlers log, and the line. As the console of Node, but for the form of objects. */
const LOGGED: [values: string, line: string][] = [
  ['"%s is %d", "a", 1', 'a is 1'],
  ['"%s %s", "a"', 'a %s'],
  ['"%s", "a", "b", { c: 1 }', 'a b {"c":1}'],
  ['"%s", { a: 1 }', '{"a":1}'],
  ['"%j %o %O", { a: 1 }, [2], "x"', '{"a":1} [2] "x"'],
  ['"%d %i %f", "42.5", 42.5, "1.5"', '42.5 42 1.5'],
  ['"%d %i", "x", {}', 'NaN NaN'],
  ['"%d %i", 12n, Symbol("x")', '12 NaN'],
  ['"%cred%c", "color: red", ""', 'red'],
  ['"100%% of %s", "all"', '100% of all'],
  ['"100%"', '100%'],
  ['"%s"', '%s'],
  ['"%x %", "a"', '%x % a'],
  ['1, "%s", "a"', '1 %s a'],
];

/** Content types of texts, and the content types of their responses. */
const TYPES: [given: string, sent: string][] = [
  ['text/html', 'text/html; charset=utf-8'],
  ['text/csv ', 'text/csv; charset=utf-8'],
  ['text/html; charset=iso-8859-1', 'text/html; charset=iso-8859-1'],
  ['image/svg+xml', 'image/svg+xml'],
];

const test = base.extend<{ app: DeployedApp }>({
  app: [
    async ({ admin, service }, use) => {
      const thrown = Object.entries(THROWN).map(([name, [source]]) => [`throw-${name}`, `throw ${source};`]);
      const others = {
        log: LOGGED.map(([values]) => `log(${values});`).join('\n'),
        type: 'return { status: 200, body: "é", headers: { "content-type": request.query.type } };',
        bytes: 'return { status: 200, body: new Uint8Array([1]), headers: { "content-type": "text/html" } };',
        body: 'return { body: request.body, raw: request.rawBody.length, method: request.method };',
      };
      const files = withBodies({ ...Object.fromEntries(thrown), ...others });
      await use(await deployApp({ admin, service }, 'Conventions', files));
    },
    { scope: 'file' },
  ],
});

test.for(Object.entries(THROWN))('a thrown value has a message: %s', async ([name, [, message]], { app }) => {
  const failure = await app.fail(`server/throw-${name}.js`, { method: 'post' });
  expect(failure.message.replace(/^server\/throw-\w+\.js:\d+: /, '')).toBe(message);
});

test('the first text of a logged line is its format', async ({ app }) => {
  const { logs } = await app.run('server/log.js', { method: 'post' });
  expect(logs.map(({ text }) => text)).toEqual(LOGGED.map(([, line]) => line));
});

describe('a response', () => {
  test.for(TYPES)('of the type %s is %s', async ([type, sent], { app }) => {
    expect((await post(app, 'type', { query: { type } })).headers).toEqual({ 'content-type': sent });
  });

  test('of bytes keeps its type', async ({ app }) => {
    expect((await post(app, 'bytes')).headers).toEqual({ 'content-type': 'text/html' });
  });
});

describe('a request', () => {
  const headers = { 'content-type': 'application/json' };

  test('of JSON may begin with a byte order mark', async ({ app }) => {
    expect((await post(app, 'body', { headers, body: '\uFEFF{"a":1}' })).json).toEqual({
      body: { a: 1 },
      raw: 8,
      method: 'POST',
    });
    expect((await post(app, 'body', { headers, body: '\uFEFF\uFEFF1' })).json).toMatchObject({ body: '\uFEFF\uFEFF1' });
    const text = { 'content-type': 'text/plain' };
    expect((await post(app, 'body', { headers: text, body: '\uFEFFa' })).json).toMatchObject({ body: '\uFEFFa' });
  });
});
