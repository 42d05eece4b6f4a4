import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import { test as base } from '../job/webhook-fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { deployApp, type DeployedApp } from './handler-fixture.ts';
import { appsUrl } from './workspace-fixture.ts';

/* Work that a handler has begun ends with it, however it ends: its process may be killed, and then sends nothing further. */

/** How a handler ends that has begun everything. */
const ENDS: Record<string, string> = {
  returns: 'return 1;',
  throws: `throw new Error('no');`,
  'waits past its time': 'await new Promise(() => {});',
  'loops past its time': 'for (;;);',
  'takes too much memory': 'const all = []; for (;;) all.push(new Array(1e6).fill(1));',
  'is left by its caller': 'await new Promise(() => {});',
};

/** Begins a transaction, a long statement and an outgoing request, and ends in the given way when all have begun. */
const handlerOf = (end: string) => `
  export const config = { timeout: 4000 };
  export async function post({ query, transaction, fetch, request }) {
    const begun = new Promise((resolve) => transaction(async (tx) => {
      await tx.query('update t set n = n + 1');
      resolve();
      await new Promise(() => {});
    }).catch(() => {}));
    query('select pg_sleep(100)').catch(() => {});
    fetch(request.query.url).catch(() => {});
    await begun;
    await query('select pg_sleep(0.3)');
    ${end}
  }`;

const names = Object.keys(ENDS);
let open = 0;
const server = createServer((_request, response) => {
  open += 1;
  response.on('close', () => (open -= 1));
});
beforeAll(() => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const test = base.extend<{ app: DeployedApp }>({
  app: [
    async ({ admin, service }, use) => {
      const handlers = names.map((name, index) => [`server/h${index}.js`, handlerOf(ENDS[name]!)]);
      const files = {
        'migrations/001.sql': 'create table t (n int); insert into t values (0);',
        ...Object.fromEntries(handlers),
      };
      await use(await deployApp({ admin, service }, 'Left behind', files));
    },
    { scope: 'file' },
  ],
});

for (const [index, name] of names.entries())
  test(`a handler that ${name} leaves no connection, statement or request open`, async ({ app, service }) => {
    const [{ schema }] = (await runSql(service.databaseUrl, 'select schema_name as schema from dws.app where id = $1', [
      app.id,
    ])) as [{ schema: string }];
    const busy = async () => {
      const text = `select count(*)::int as count from pg_stat_activity where usename = $1 and state <> 'idle'`;
      return (await runSql(appsUrl(service.databaseUrl), text, [schema]))[0]!['count'] as number;
    };
    const leave = new AbortController();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const running = app
      .run(`server/h${index}.js`, { method: 'post', query: { url }, signal: leave.signal })
      .catch(() => {});
    await expect.poll(() => open, { timeout: 10_000 }).toBe(1);
    if (name.includes('left')) {
      await expect.poll(busy).toBe(2);
      leave.abort(new Error('The client left'));
    }
    await running;
    await expect.poll(busy).toBe(0);
    await expect.poll(() => open).toBe(0);
  });
