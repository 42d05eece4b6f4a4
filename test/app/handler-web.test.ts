import { expect } from 'vitest';
import { test as base } from '../support/fixture.ts';
import { deployApp, withBodies, type DeployedApp } from './handler-fixture.ts';

/** Code that returns JSON: it runs here, with the functions of Node, and in a handler. */
const SAME: Record<string, string> = {
  encoder:
    'return [[...new TextEncoder().encode("a€😀")], new TextEncoder().encode().length, new TextEncoder().encoding]',
  decoder: `const bytes = new Uint8Array([239, 187, 191, 97, 226, 130, 172]);
    return [new TextDecoder().decode(bytes), new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.buffer),
      new TextDecoder('latin1').decode(new DataView(bytes.buffer, 4)), new TextDecoder('utf-16le').encoding,
      new TextDecoder().decode(new Uint8Array([255])), new TextDecoder().decode()]`,
  malformed: `const failed = (f) => { try { f(); return false } catch (error) { return error.name } };
    return [failed(() => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255]))), failed(() => new TextDecoder('x'))]`,
  base64: 'return [btoa("a\\xff"), atob(" Yf8= "), atob("YQ"), btoa("")]',
  url: `const url = new URL('../b?x=1&x=2&y=%20z#h', 'https://user:pw@example.com:8443/a/c/d');
    const before = { ...Object.fromEntries(['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port',
      'pathname', 'search', 'hash'].map((name) => [name, url[name]])), all: url.searchParams.getAll('x'), json: JSON.stringify({ url }) };
    url.pathname = '/é'; url.port = '443'; url.hash = ''; url.searchParams.append('z', 'a b&c'); url.searchParams.delete('x');
    const changed = String(url);
    url.search = '?q=1';
    return [before, changed, url.searchParams.get('q'), url.searchParams.get('z'), URL.canParse('nothing'), URL.parse('a:b')?.href]`,
  urlErrors: `const failed = (f) => { try { f(); return false } catch (error) { return error.name } };
    return [failed(() => new URL('nothing')), failed(() => { new URL('https://a').href = 'nothing' })]`,
  params: `const params = new URLSearchParams([['b', '2'], ['a', '1'], ['b', '3']]);
    params.set('b', 'é'); params.append('c', ''); params.sort();
    const of = (init) => [...new URLSearchParams(init)];
    return [params.toString(), [...params.keys()], [...params.values()], params.size, params.has('a', '2'), params.get('d'),
      of('?a=1&a=%E2%82%AC+x'), of({ a: 1, b: 'c' }), of(params), of(), \`\${params}\`]`,
  clone: `const value = { list: [1, { a: null }], date: new Date(5), map: new Map([['a', new Set([1])]]),
      bytes: new Uint8Array([1, 2]).subarray(1),
      error: new TypeError('no'), expression: /a/gi, none: undefined };
    value.self = value;
    const copy = structuredClone(value);
    value.list[1].a = 2; value.bytes[0] = 9;
    const failed = (f) => { try { f(); return false } catch { return true } };
    return [copy.self === copy, copy.list, copy.date.getTime(), [...copy.map.get('a')], copy.bytes[0], copy.error.message, copy.error.name,
      String(copy.expression), 'none' in copy, copy !== value, failed(() => structuredClone(() => 1))]`,
  timers: `const order = [];
    const done = Promise.withResolvers();
    setTimeout(() => { order.push('late'); done.resolve() }, 1500);
    setTimeout((...args) => order.push(args), 1, 'early', 2);
    const cleared = setTimeout(() => order.push('never'), 5);
    clearTimeout(cleared);
    let ticks = 0;
    const interval = setInterval(() => { order.push('tick'); if (++ticks === 2) clearInterval(interval) }, 2);
    queueMicrotask(() => order.push('microtask'));
    order.push('first');
    await done.promise;
    return order.filter((one) => one !== 'tick').concat(ticks)`,
};

const test = base.extend<{ app: DeployedApp }>({
  app: [
    async ({ admin, service }, use) =>
      use(
        await deployApp({ admin, service }, 'Web', {
          ...withBodies(SAME),
          'lib/top.ts': 'export const url: URL = new URL("/a", "https://b"); setTimeout(() => {}, 60_000);',
          'server/top.js': 'import { url } from "../lib/top.ts";\nexport const get = () => url.href;',
          ...withBodies({
            pending: 'setTimeout(() => console.log("late"), 50); setInterval(() => {}, 1); return "returned"',
            throwing:
              'setTimeout(() => { throw new Error("in a timer") }); await new Promise((resolve) => setTimeout(resolve, 20))',
            many: 'for (let i = 0; i < 1100; i++) setTimeout(() => {}, 10_000); await new Promise(() => {})',
          }),
        }),
      ),
    { scope: 'file' },
  ],
});

for (const [name, code] of Object.entries(SAME))
  test(`${name}: handlers have the same as Node`, async ({ app }) => {
    const AsyncFunction = (async () => {}).constructor as new (code: string) => () => Promise<unknown>;
    const expected: unknown = JSON.parse(JSON.stringify(await new AsyncFunction(code)()));
    expect((await app.respond(`server/${name}.js`, { method: 'post' })).json).toEqual(expected);
  });

test('modules use them when they are loaded, and when they are deployed', async ({ app }) => {
  expect((await app.respond('server/top.js')).text).toBe('https://b/a');
});

test('timers that are left behind end with the handler', async ({ app }) => {
  for (let i = 0; i < 5; i++) {
    const { result, logs } = await app.run('server/pending.js', { method: 'post' });
    expect(result).toMatchObject({ response: { status: 200 } });
    expect(logs).toEqual([]);
  }
});

test('an error in a timer is logged', async ({ app }) => {
  const { result, logs } = await app.run('server/throwing.js', { method: 'post' });
  expect(result).toMatchObject({ response: { status: 204 } });
  expect(logs).toMatchObject([{ level: 'error', text: expect.stringContaining('in a timer') }]);
});

test('a flood of timers ends the handler', async ({ app }) => {
  expect(await app.fail('server/many.js', { method: 'post' })).toEqual({
    status: 500,
    code: 'UPSTREAM_FAILED',
    message: 'More than 1000 timers',
  });
});
