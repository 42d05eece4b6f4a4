import { describe, expect, test as base } from 'vitest';
import { SystemPool } from '../../src/adapters/database/system-pool.ts';
import { createUser } from '../../src/services/identity/bootstrap.ts';
import { Client } from '../support/client.ts';
import { byEvents, bySocket, everything, first, openSocket } from '../support/follow-operation.ts';
import { beginRefresh, GATED, makeMillion, MILLION } from '../support/million-rows.ts';
import { createDatabase } from '../support/postgres.ts';
import { ADMIN_PASSWORD, at, byToken, logIn, newFolder, startProcess } from '../support/service-process.ts';
import { eventually } from './fixture.ts';

/** API calls per minute. A test with more than a few calls creates its own caller. */
const RATE_LIMIT_API = 300;

/** Two web processes and a worker, on one database and one data folder. */
interface Cluster {
  a: string;
  b: string;
  /** A superuser, with a token that A issued. */
  admin: Client;
  /** Creates a user, with a token that A issued. */
  createCaller(name: string): Promise<Client>;
}

const test = base.extend<{ cluster: Cluster }>({
  cluster: [
    async ({}, use) => {
      const stack = new AsyncDisposableStack();
      // No `await using`: tools/import-rules.mjs cannot parse it yet.
      try {
        const database = await createDatabase();
        stack.defer(database.drop);
        const system = new SystemPool(database.url);
        stack.defer(() => system.close());
        const folder = newFolder();
        stack.defer(folder.remove);
        const shared = {
          DATABASE_URL: database.url,
          DATA_DIR: folder.path,
          APP_SECRET: 'a secret of several processes of enough characters',
          ADMIN_PASSWORD,
          RATE_LIMIT_API: String(RATE_LIMIT_API),
          RATE_LIMIT_LOGIN: '10',
        };
        const [a, b, worker] = await Promise.all(
          ['web', 'web', 'worker'].map((ROLE) => startProcess({ ...shared, ROLE })),
        );
        stack.defer(async () => {
          await Promise.all([a, b, worker].map((one) => one!.end('SIGKILL')));
        });
        const session = await logIn(a!.url);
        const admin = await byToken(session);
        await use({
          a: a!.url,
          b: b!.url,
          admin,
          async createCaller(name) {
            await createUser(system, 'default', name, ADMIN_PASSWORD, false);
            return byToken(await logIn(a!.url, name));
          },
        });
        // On SIGTERM each process exits with status 0.
        expect(await Promise.all([a, b, worker].map((one) => one!.end('SIGTERM')))).toEqual([0, 0, 0]);
      } finally {
        await stack.disposeAsync();
      }
    },
    { scope: 'file' },
  ],
});

describe('several processes on one Postgres are one service', () => {
  test('a session of one is valid on the other, and a logout ends it there', async ({ cluster }) => {
    const session = await logIn(cluster.a);
    const there = at(cluster.b, session);
    expect(await there.get('/session')).toMatchObject({
      status: 200,
      body: { user: { username: 'admin' }, authMethod: 'session' },
    });
    expect(await there.get('/session')).toMatchObject({ status: 200 });
    expect(await session.post('/logout')).toMatchObject({ status: 204 });
    await expect.poll(async () => (await there.get('/session')).status).toBe(401);
  });

  test('a user disabled on one is disconnected from the other, including open sockets', async ({ cluster }) => {
    const leaver = await cluster.createCaller('leaver');
    const there = at(cluster.b, leaver);
    const socket = openSocket(there);
    const [hello] = await everything(socket.iterate<{ me: { username: string } }>('{ me { username } }', {}));
    expect(hello).toEqual({ data: { me: { username: 'leaver' } } });
    expect(await cluster.admin.put('/users/leaver', { enabled: false })).toMatchObject({ status: 200 });
    expect(await socket.closed).toBe(4403);
    expect(await there.get('/session')).toMatchObject({ status: 401 });
  });

  test('a refresh started on one can be followed on the other by events and by subscription concurrently', async ({
    cluster,
  }) => {
    const million = await makeMillion(cluster.admin, MILLION);
    const operation = await beginRefresh(cluster.admin, million.id, 'first load');
    const there = at(cluster.b, cluster.admin);
    for (const states of await Promise.all([
      everything(byEvents(there, operation)),
      everything(bySocket(there, operation)),
    ])) {
      const rows = states.map(({ current }) => current ?? 0);
      expect(rows).toEqual(rows.toSorted((a, b) => a - b));
      expect(new Set(rows.filter((current) => current > 0)).size).toBeGreaterThan(2);
      expect(states.at(-1)).toEqual({ status: 'succeeded', current: 1_000_000, percent: 100 });
    }
    expect(await there.get(`/datasets/${million.id}/data?limit=1`)).toMatchObject({
      status: 200,
      body: { total: 1_000_000 },
    });
    await million.drop();
  });

  test('a refresh of one is cancelled by the other, including its statement; waiting callers get 409', async ({
    cluster,
  }) => {
    const dataset = await makeMillion(cluster.admin, GATED);
    const openGate = await dataset.closeGate();
    const waiting = cluster.admin.post(`/datasets/${dataset.id}/_refresh`, { progress: 'to be cancelled' });
    await eventually(async () => (await dataset.running()).length > 0);
    const there = at(cluster.b, cluster.admin);
    const following = everything(byEvents(there, 'to be cancelled'));
    expect(await there.delete('/progress/to be cancelled')).toMatchObject({ status: 202 });
    expect(await waiting).toMatchObject({ status: 409, body: { code: 'CANCELLED' } });
    expect((await following).at(-1)).toMatchObject({ status: 'cancelled' });
    // Postgres ends a cancelled statement a moment later.
    await eventually(async () => (await dataset.running()).length === 0);
    await openGate();
    await dataset.drop();
  });

  test('two refreshes of a dataset, started on both, run one after the other', async ({ cluster }) => {
    const dataset = await makeMillion(cluster.admin, GATED);
    const there = at(cluster.b, cluster.admin);
    const openGate = await dataset.closeGate();
    const firstRefresh = await beginRefresh(cluster.admin, dataset.id);
    await eventually(async () => (await dataset.running()).length > 0);
    const secondRefresh = await beginRefresh(there, dataset.id);
    expect(await first(byEvents(there, secondRefresh), () => true)).toMatchObject({ status: 'queued' });
    await openGate();
    expect((await everything(byEvents(there, firstRefresh))).at(-1)).toMatchObject({ status: 'succeeded' });
    expect((await everything(byEvents(cluster.admin, secondRefresh))).at(-1)).toMatchObject({ status: 'succeeded' });
    const { startedAt } = (await there.get(`/progress/${secondRefresh}`)).body;
    expect(startedAt >= (await there.get(`/progress/${firstRefresh}`)).body.finishedAt).toBe(true);
    await dataset.drop();
  });

  test('a client that disconnects cancels nothing', async ({ cluster }) => {
    const dataset = await makeMillion(cluster.admin, GATED);
    const openGate = await dataset.closeGate();
    const connection = new AbortController();
    const call = fetch(`${cluster.a}/api/datasets/${dataset.id}/_refresh`, {
      method: 'POST',
      headers: { ...cluster.admin.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ progress: 'unattended' }),
      signal: connection.signal,
    });
    await eventually(async () => (await dataset.running()).length > 0);
    connection.abort();
    await expect(call).rejects.toThrow('aborted');
    await openGate();
    expect((await everything(byEvents(at(cluster.b, cluster.admin), 'unattended'))).at(-1)).toMatchObject({
      status: 'succeeded',
      current: 4,
    });
    await dataset.drop();
  });

  test('logins on both count towards one limit', async ({ cluster }) => {
    const attempts = [cluster.a, cluster.b].map(
      (url) => () => new Client(url).post('/login', { username: 'nobody', password: 'not a password at all' }),
    );
    for (let round = 0; round < 5; round++)
      for (const attempt of attempts) expect(await attempt()).toMatchObject({ status: 401 });
    for (const attempt of attempts)
      expect(await attempt()).toMatchObject({
        status: 429,
        headers: expect.toSatisfy((headers: Headers) => headers.has('retry-after')),
      });
  });

  test('calls on both count towards one limit', async ({ cluster }) => {
    const greedy = await cluster.createCaller('greedy');
    const there = at(cluster.b, greedy);
    const minute = () => Math.floor(Date.now() / 60_000);
    const callAll = (count: number) =>
      Promise.all(Array.from({ length: count }, async () => (await greedy.get('/session')).status));
    // The count restarts with every minute of the clock, so calls in two minutes are repeated.
    for (let startMinute = -1; startMinute !== minute();) {
      startMinute = minute();
      await callAll(RATE_LIMIT_API);
      while (startMinute === minute() && (await there.get('/session')).status !== 429)
        await new Promise((wake) => {
          setTimeout(wake, 200);
        });
    }
    expect(await greedy.get('/session')).toMatchObject({ status: 429 });
    expect(await cluster.admin.get('/session')).toMatchObject({ status: 200 });
  });
});
