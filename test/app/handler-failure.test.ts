import pg from 'pg';
import { expect, vi } from 'vitest';
import type { HandlerOutcome } from '../../src/core/app-run.ts';
import { notFound } from '../../src/core/errors.ts';
import { test as base } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { deployApp, withBodies, type DeployedApp } from './handler-fixture.ts';

const QUICK = 'export const config = { timeout: 300 };\n';
const SECRET = 'the secret of another app';

/** Lets handlers run until they exceed a limit other than time, even while other tests run. */
const withLongTimeout = (files: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(files).map(([path, code]) => [path, `export const config = { timeout: 100_000 }; ${code}`]),
  );

const test = base.extend<{ app: DeployedApp; other: DeployedApp }>({
  app: [
    async ({ admin, service }, use) =>
      use(
        await deployApp(
          { admin, service },
          'Failures',
          {
            'migrations/001.sql': 'create table note (text text)',
            'lib/below.ts': `type Unused = string;\n\nexport const fail = async (text: Unused): Promise<never> => {
  await null;
  throw new RangeError(text);
};`,
            'server/below.ts': `import { fail } from '../lib/below.ts';\nexport const get = () => fail('deep');`,
            'server/loop.js': `${QUICK}export const get = () => { for (;;); };`,
            'server/wait.js': `${QUICK}export const get = () => new Promise(() => {});`,
            'server/slow.js': `${QUICK}export const get = ({ query }) => query('select pg_sleep(20)');`,
            'server/state.js': `let count = 0;
              export const get = () => [++count, typeof globalThis.left, {}.left, [].map === globalThis.map, JSON.left];
              export const post = () => {
                count = 10; globalThis.left = 1; Object.prototype.left = 2; JSON.left = 3; Array.prototype.map = () => 4;
                URL.prototype.left = 1; TextEncoder.prototype.encode = () => new Uint8Array(9); return 'changed';
              };
              export const put = ({ base64Encode }) =>
                [typeof URL.prototype.left, base64Encode('a'), new TextEncoder().encode('a').length];`,
            ...withLongTimeout(
              withBodies({
                memory: 'const a = []; for (;;) a.push([a.length])',
                map: 'const m = new Map(); for (let i = 0; ; i++) m.set(i, i)',
                flood: 'for (;;) await query("select 1")',
                floodAtOnce: 'for (;;) query("select 1").catch(() => {})',
                bytes: 'for (;;) await query("select $1", ["x".repeat(5_000_000)])',
                results: 'for (;;) await query("select repeat(\'x\', 10000000)")',
                big: 'return query("select repeat(\'x\', 1000000) as x from generate_series(1, 20)")',
                rows: 'return query("select generate_series(1, 10001)")',
              }),
            ),
            ...withBodies({
              waiting: `log.info("waiting"); await query("insert into note values ('begun')"); await new Promise(() => {})`,
              begun: 'return (await query("select count(*)::int from note"))[0].count',
              host: 'return [typeof host, typeof process, typeof require, Object.keys(arguments[0]).sort()]',
              stack: `const texts = [];
                for (const f of [() => crypto.hash('md5', 'a'), () => atob('*'), () => new URL('x'), () => query(5)])
                  try { await f() } catch (error) { texts.push(error.stack) }
                await query('nonsense').catch((error) => texts.push(error.stack, Object.keys(error).join()));
                return texts`,
              keys: 'return Object.getOwnPropertyNames(globalThis).filter((name) => /sandbox|prepare|bridge|native/i.test(name))',
              forge: `Object.defineProperty(Object.prototype, 'status', { get() { return 999 }, configurable: true });
                Object.defineProperty(Array.prototype, 'toJSON', { value: () => ({ head: { status: 'x' } }) });
                return { a: [1] }`,
              otherRows: `const [{ schemaname }] = await query("select schemaname from pg_tables where tablename = 'secret'");
                return query('select * from ' + schemaname + '.secret').catch(({ code }) => code)`,
              otherEnv: 'return [JSON.stringify(env), JSON.stringify(request), JSON.stringify(context)].join()',
            }),
          },
          { KEY: 'own value' },
        ),
      ),
    { scope: 'file' },
  ],
  other: [
    async ({ admin, service }, use) =>
      use(
        await deployApp(
          { admin, service },
          'Other',
          {
            'migrations/001.sql': `create table secret (text text); insert into secret values ('row of another app')`,
            'server/a.js': 'export const get = ({ env }) => env.KEY;',
          },
          { KEY: SECRET },
        ),
      ),
    { scope: 'file' },
  ],
});

const post = { method: 'post' };

const WAITING = {
  'migrations/001.sql': 'create table note (text text)',
  ...withBodies({
    waiting: `await query("insert into note values ('begun')"); await new Promise(() => {})`,
    begun: 'return (await query("select count(*)::int from note"))[0].count',
  }),
};

/** Starts a handler that waits forever, and returns its outcome to be once it has begun. */
async function startWaiting(app: DeployedApp, signal?: AbortSignal): Promise<{ outcome: Promise<HandlerOutcome> }> {
  // A visitor runs one view at a time.
  const outcome = app.run('server/waiting.js', { ...post, signal, visitorId: 'another' });
  outcome.catch(() => {});
  const count = async () => (await app.respond('server/begun.js', post)).text;
  await expect.poll(count).toBe('1');
  return { outcome };
}

test('an error has the file and line of the text of the author', async ({ app }) => {
  expect(await app.fail('server/below.ts')).toEqual({
    status: 500,
    code: 'UPSTREAM_FAILED',
    message: 'lib/below.ts:5: RangeError: deep',
  });
});

test.for(['loop', 'wait', 'slow'])('a handler that takes too long is 504: %s', async (name, { app }) => {
  expect(await app.fail(`server/${name}.js`)).toEqual({
    status: 504,
    code: 'TIMEOUT',
    message: 'The handler takes longer than 300 ms',
  });
  expect((await app.respond('server/state.js')).json[0]).toBe(1);
});

test('a handler may run for 30 seconds by default', async ({ app, service }) => {
  const run = vi.spyOn(service.platform.sandbox, 'run');
  await app.respond('server/state.js');
  await app.fail('server/loop.js');
  expect(run.mock.calls.map(([{ limits }]) => limits.timeoutMs)).toEqual([30_000, 300]);
  run.mockRestore();
});

test.for([
  ['memory', 'The handler needs more than 128 MB of memory'],
  ['map', 'The handler needs more than 128 MB of memory'],
  ['flood', 'The handler called functions of the service more than 1000 times'],
  ['floodAtOnce', 'The handler called functions of the service more than 1000 times'],
  ['bytes', 'The handler exchanged more than 67108864 bytes with the service'],
  ['results', 'The handler exchanged more than 67108864 bytes with the service'],
  ['big', 'server/big.js:3: The query returns more than 16 MiB'],
  ['rows', 'server/rows.js:3: The query returns more than 10000 rows'],
])('what exceeds a limit is 500, and the next run is right: %s', async ([name, message], { app }) => {
  expect(await app.fail(`server/${name}.js`, post)).toEqual({ status: 500, code: 'UPSTREAM_FAILED', message });
  expect((await app.respond('server/state.js')).json[0]).toBe(1);
});

test('nothing of a run is seen by the next', async ({ app }) => {
  const fresh = [1, 'undefined', null, false, null];
  expect((await app.respond('server/state.js')).json).toEqual(fresh);
  expect((await app.respond('server/state.js', post)).text).toBe('changed');
  expect((await app.respond('server/state.js')).json).toEqual(fresh);
  expect((await app.respond('server/state.js', { method: 'put' })).json).toEqual(['undefined', 'YQ==', 1]);
});

test('a handler has its one argument and nothing of the process', async ({ app }) => {
  expect((await app.respond('server/host.js', post)).json).toEqual([
    'undefined',
    'undefined',
    'undefined',
    [
      'base64Decode',
      'base64Encode',
      'context',
      'crypto',
      'email',
      'emit',
      'env',
      'fetch',
      'log',
      'markdown',
      'notify',
      'query',
      'request',
      'respond',
      'transaction',
    ],
  ]);
  expect((await app.respond('server/keys.js', post)).json).toEqual([]);
});

test('errors name no file of the service', async ({ app }) => {
  const { text } = await app.respond('server/stack.js', post);
  expect(text).toContain('server/stack.js:');
  expect(text).not.toContain(process.cwd());
  expect(text).not.toMatch(/file:|node:|\/src\/|\/dist\/|native-functions/);
});

test('what a handler forges is a failure or a response of its own', async ({ app }) => {
  expect((await app.respond('server/forge.js', post)).status).toBe(200);
});

test('environment and rows of another app are out of reach', async ({ app, other }) => {
  expect((await other.respond('server/a.js')).text).toBe(SECRET);
  expect((await app.respond('server/otherEnv.js', post)).text).not.toContain(SECRET);
  expect((await app.respond('server/otherRows.js', post)).text).toBe('42501');
});

test('a run whose caller disconnects ends, and its time counts', async ({ app }) => {
  const controller = new AbortController();
  const { outcome } = await startWaiting(app, controller.signal);
  controller.abort();
  expect(await outcome).toMatchObject({
    result: { failure: { status: 409, message: 'The caller disconnected' } },
    durationMs: expect.toSatisfy((duration: number) => duration > 0),
  });
});

/** Expects that a run ended because its app was deleted, and that its time counts. */
function expectDeleted({ result, durationMs }: HandlerOutcome, id: string): void {
  expect(result).toEqual({ failure: notFound({ what: 'app', id }) });
  expect(durationMs).toBeGreaterThan(0);
}

test('deleting the app ends its runs, and notifies the other processes', async ({ admin, service }) => {
  const app = await deployApp({ admin, service }, 'Deleted', WAITING);
  const { outcome } = await startWaiting(app);
  const listener = new pg.Client({ connectionString: service.databaseUrl });
  await listener.connect();
  await listener.query('listen dws_app');
  const notified = new Promise((resolve) => listener.once('notification', ({ payload }) => resolve(payload)));
  expect((await admin.delete(`/apps/${app.id}`)).status).toBe(204);
  expectDeleted(await outcome, app.id);
  expect(await notified).toBe(app.id);
  await listener.end();
});

test('a notification of another process ends the runs of the app that was deleted there', async ({
  admin,
  service,
}) => {
  const app = await deployApp({ admin, service }, 'Deleted elsewhere', WAITING);
  const { outcome } = await startWaiting(app);
  await runSql(service.databaseUrl, `select pg_notify('dws_app', $1)`, [app.id]);
  expectDeleted(await outcome, app.id);
});

test('handlers call each other three deep', async ({ app }) => {
  for (const depth of [1, 2]) expect((await app.respond('server/state.js', { depth })).status).toBe(200);
  await expect(app.run('server/state.js', { depth: 3 })).rejects.toMatchObject({
    status: 503,
    code: 'UNAVAILABLE',
    message: 'Handlers call view, _hook and _render at most 3 deep',
  });
});
