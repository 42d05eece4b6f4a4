import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { createApp } from './app-fixture.ts';

/** Deploys files that have mistakes. Returns these: file, message, line and column. */
async function mistakesOf(client: Client, name: string, files: Record<string, string>): Promise<unknown[][]> {
  const id = await createApp(client, name, files);
  const { status, body } = await client.post(`/apps/${id}/_deploy`);
  if (status !== 400) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.validation.map(({ path, message, code, line, column }: Record<string, any>) => {
    expect(code).toBe('CODE');
    return [path.join(), message, line, column];
  });
}

const HANDLER = 'export const get = () => 1;\n';

test('all mistakes in all files are reported with their places', async ({ admin }) => {
  expect(
    await mistakesOf(admin, 'Mistakes', {
      'lib/enum.ts': 'let a: number = 1;\n  enum X { A }',
      'lib/types.ts': 'let a: number = 1;\nlet b: = 3;',
      'lib/twice.js': 'let a = 1;\n  let a = 2;',
      'server/a.js': `${HANDLER}  import fs from 'node:fs';\nimport x from "lodash";`,
      'server/b.js': `import x from './missing.js';\nimport '../../../etc/passwd';\nimport '../README.md';`,
      'server/c.ts': `const a: number = 1;\n${HANDLER}\nnull.x;`,
      'server/d.js': 'export const none = 1;',
      'server/e.js': `import { missing } from '../lib/ok.js';\n${HANDLER}`,
      'server/f.ts': `import type { Any } from '../lib/ok.js';\n${HANDLER}import nothing from "../lib/ok.js";`,
      'server/g.js': `import { again } from '../lib/again.js';\n${HANDLER}`,
      'lib/again.js': `import { ok } from './ok.js';\nexport { ok,\n  none as again } from './ok.js';`,
      'lib/ok.js': 'export const ok = 1;',
      'README.md': 'x',
    }),
  ).toEqual([
    ['lib/again.js', expect.stringMatching(/does not provide an export named 'none'/), 3, 24],
    ['lib/enum.ts', 'TypeScript enum is not supported in strip-only mode', 2, 3],
    ['lib/twice.js', "SyntaxError: Identifier 'a' has already been declared", 2, 7],
    ['lib/types.ts', expect.stringMatching(/^Unexpected token `=`/), 2, 8],
    ['server/a.js', 'Modules import files of the app by a relative path, not "node:fs"', 2, 18],
    ['server/a.js', 'Modules import files of the app by a relative path, not "lodash"', 3, 15],
    ['server/b.js', 'There is no module "./missing.js"', 1, 15],
    ['server/b.js', 'There is no module "../../../etc/passwd"', 2, 8],
    ['server/b.js', 'There is no module "../README.md"', 3, 8],
    ['server/c.ts', "TypeError: Cannot read properties of null (reading 'x')", 4, 6],
    ['server/d.js', 'The module exports none of get, post, put, patch, delete', null, null],
    ['server/e.js', expect.stringMatching(/does not provide an export named 'missing'/), 1, 25],
    ['server/f.ts', expect.stringMatching(/does not provide an export named 'default'/), 3, 21],
  ]);
});

test('names of files have one route each', async ({ admin }) => {
  expect(
    await mistakesOf(admin, 'Names', {
      'server/a.js': HANDLER,
      'server/a.ts': HANDLER,
      'server/a/index.js': HANDLER,
      'server/[id].js': HANDLER,
      'server/[key].js': HANDLER,
      'server/[a]/[a].js': HANDLER,
      'server/x[id].js': HANDLER,
      'webhooks/a.js': HANDLER,
    }),
  ).toEqual([
    ['server/[a]/[a].js', 'The parameter a occurs twice', null, null],
    ['server/[key].js', 'The route /:key also belongs to server/[id].js', null, null],
    ['server/a.ts', 'The route /a also belongs to server/a.js', null, null],
    ['server/a/index.js', 'The route /a also belongs to server/a.js', null, null],
    ['server/x[id].js', 'The name x[id] is neither a text nor a parameter such as [id]', null, null],
  ]);
});

test.for([
  ['{ timeout: 99 }', 'config.timeout must be an integer from 100 to 120000'],
  ['{ timeout: "1000" }', 'config.timeout must be an integer from 100 to 120000'],
  ['{ maxBody: 10_000_001 }', 'config.maxBody must be an integer from 1 to 10000000'],
  [
    '{ verify: { scheme: "none", secret: "A" } }',
    'config.verify.scheme must be one of hmac, github, stripe, standard-webhooks',
  ],
  ['{ verify: { scheme: "hmac" } }', 'config.verify.secret is missing'],
  [
    '{ verify: { scheme: "hmac", secret: () => 1 } }',
    'config.verify.secret must be the name of an environment variable',
  ],
  ['{ verify: "github" }', 'config.verify must be an object'],
  ['{ idempotency: { header: "a b" } }', 'config.idempotency.header must be the name of a header'],
  ['{ retries: 1 }', 'config.retries is not a setting: there are timeout, maxBody, verify, idempotency, token'],
  ['() => 1', 'config must be an object'],
  ['[]', 'config must be an object'],
  [
    'JSON.parse(\'{"__proto__": 1}\')',
    'config.__proto__ is not a setting: there are timeout, maxBody, verify, idempotency, token',
  ],
] as const)('the config %s is refused', async ([config, message], { admin }) => {
  expect(
    await mistakesOf(admin, 'Config', { 'webhooks/a.js': `${HANDLER}\nexport const config = ${config};` }),
  ).toEqual([['webhooks/a.js', message, 3, 14]]);
});

test('methods are functions that the folder knows, once', async ({ admin }) => {
  expect(
    await mistakesOf(admin, 'Methods', {
      'server/a.js': `${HANDLER} export const GET = get;`,
      'webhooks/a.js': 'export const patch = () => 1',
      'server/b.js': 'export const get = 1',
      'server/c.js': `${HANDLER} export const config = { verify: { scheme: 'github', secret: 'A' } };`,
    }),
  ).toEqual([
    ['server/a.js', 'The method get is exported twice', null, null],
    ['server/b.js', 'The export get is not a function', null, null],
    ['server/c.js', 'config.verify is not a setting: there are timeout, maxBody', 2, 15],
    ['webhooks/a.js', 'webhooks have no method patch', null, null],
  ]);
});

test('code that never ends or takes all memory is named', async ({ admin }) => {
  const fine = { 'server/a.js': HANDLER, 'server/c.js': HANDLER };
  expect(await mistakesOf(admin, 'Endless', { ...fine, 'server/b.js': `${HANDLER}\nfor (;;);` })).toEqual([
    ['server/b.js', 'Loading the modules takes longer than 5 seconds', null, null],
  ]);
  const greedy = `${HANDLER}\nconst all = []; for (;;) all.push(new Array(1e6).fill(1));`;
  expect(await mistakesOf(admin, 'Greedy', { ...fine, 'server/b.js': greedy })).toEqual([
    ['server/b.js', 'Loading the modules needs more than 128 MB of memory', null, null],
  ]);
});

test('code that forges what it exports gets a mistake or routes of its own, nothing else', async ({ admin }) => {
  const forge = async (name: string, code: string) => {
    const id = await createApp(admin, name, { 'server/a.js': `${HANDLER}${code}` });
    const { status, body } = await admin.post(`/apps/${id}/_deploy`);
    return [status, body.routes ?? body.message];
  };
  const none = [400, 'server/a.js: The module exports none of get, post, put, patch, delete'];
  expect(await forge('Map', 'Array.prototype.map = () => "forged";')).toEqual(none);
  expect(await forge('Filter', 'Array.prototype.filter = () => ["__proto__"];')).toEqual([
    400,
    'server/a.js: server have no method __proto__',
  ]);
  expect(
    await forge('Reader', 'Array.prototype.map = () => [{ methods: [{ name: "put", isFunction: true }] }];'),
  ).toEqual([200, [{ method: 'put', path: '/a', handlerPath: 'server/a.js', config: {} }]]);
  expect(
    await forge('Config', 'export const config = new Proxy({}, { ownKeys() { throw new Error("no") } });'),
  ).toEqual([400, 'server/a.js:2: no']);
});

test('a module of the greatest size and a hundred modules are deployed', async ({ admin }) => {
  const modules = Array.from({ length: 100 }, (_, i) => [`server/r${i}.ts`, `${HANDLER}const n: number = ${i};`]);
  const id = await createApp(admin, 'Large', {
    ...Object.fromEntries(modules),
    'lib/large.ts': `export const text: string = '${'x'.repeat(999_000)}';`,
    'server/large.ts': `import { text } from '../lib/large.ts';\nexport const get = () => text;`,
  });
  const { status, body } = await admin.post(`/apps/${id}/_deploy`);
  expect([status, body.routes.length]).toEqual([200, 101]);
});

test('code that ends the parser is named, and does not affect other modules', async ({ admin }) => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  expect(
    await mistakesOf(admin, 'Deep', {
      'lib/a.ts': deep,
      'lib/b.ts': 'export const b: number = 1;',
      'lib/c.ts': '('.repeat(100_000),
      'lib/e.js': '['.repeat(100_000) + ']'.repeat(100_000),
      'server/d.ts': `import { b } from '../lib/b.ts';\n${HANDLER}`,
    }),
  ).toEqual([
    ['lib/a.ts', 'The module cannot be parsed', null, null],
    ['lib/c.ts', 'The module cannot be parsed', null, null],
    ['lib/e.js', expect.stringMatching(/Maximum call stack size exceeded|cannot be parsed/), null, null],
  ]);
});

test('a byte order mark is not part of the code, and bytes that are not UTF-8 are refused', async ({ admin }) => {
  expect(await mistakesOf(admin, 'Bytes', { 'server/a.ts': `\uFEFFconst a: number = 1;\n${HANDLER}null.x` })).toEqual([
    ['server/a.ts', "TypeError: Cannot read properties of null (reading 'x')", 3, 6],
  ]);
});
