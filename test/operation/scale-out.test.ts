import { describe, expect, test as base } from 'vitest';
import { SystemPool } from '../../src/adapters/database/system-pool.ts';
import { createUser } from '../../src/services/identity/bootstrap.ts';
import { Client } from '../support/client.ts';
import { byEvents, bySocket, everything, first, openSocket } from '../support/follow-operation.ts';
import { beginRefresh, GATED, makeMillion, MILLION } from '../support/million-rows.ts';
import { createDatabase } from '../support/postgres.ts';
import { ADMIN_PASSWORD, at, byToken, logIn, newFolder, startProcess } from '../support/service-process.ts';
import { eventually } from './fixture.ts';

/** Calls a minute; every test that calls more than a few times has a caller of its own. */
const RATE_LIMIT_API = 300;

/** Two processes that answer and one that works, on one database and one data folder. */
interface Cluster {
  a: string;
  b: string;
  /** Superuser, by a token made on A. */
  admin: Client;
  /** A new user, by a token made on A. */
  user(name: string): Promise<Client>;
}

const test = base.extend<{ cluster: Cluster }>({
  // vitest reads a fixture's needs from the pattern.
  cluster: [
    async ({}, use) => {
      const stack = new AsyncDisposableStack();
      // No `await using`: what checks the rooms cannot read it yet.
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
          APP_SECRET: 'a secret of several processes',
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
          async user(name) {
            await createUser(system, 'default', name, ADMIN_PASSWORD, false);
            return byToken(await logIn(a!.url, name));
          },
        });
        // Asked to end, each of them ends well.
        expect(await Promise.all([a, b, worker].map((one) => one!.end('SIGTERM')))).toEqual([0, 0, 0]);
      } finally {
        await stack.disposeAsync();
      }
    },
    { scope: 'file' },
  ],
});

describe('several processes on one Postgres are one service', () => {
  test('a session opened on one holds on the other, and ends there with a logout', async ({ cluster }) => {
    const session = await logIn(cluster.a);
    const there = at(cluster.b, session);
    expect(await there.get('/session')).toMatchObject({
      status: 200,
      body: { user: { username: 'admin' }, authMethod: 'session' },
    });
    expect(await there.get('/session')).toMatchObject({ status: 200 });
    expect(await session.post('/logout')).toMatchObject({ status: 204 });
    await expect.poll(async () => (await there.get('/session')).status, { timeout: 5000 }).toBe(401);
  });

  test('who is disabled on one is cut off on the other, open sockets included', async ({ cluster }) => {
    const leaver = await cluster.user('leaver');
    const there = at(cluster.b, leaver);
    const socket = openSocket(there);
    const [hello] = await everything(socket.iterate<{ me: { username: string } }>('{ me { username } }', {}));
    expect(hello).toEqual({ data: { me: { username: 'leaver' } } });
    expect(await cluster.admin.put('/users/leaver', { enabled: false })).toMatchObject({ status: 200 });
    expect(await socket.closed).toBe(4403);
    expect(await there.get('/session')).toMatchObject({ status: 401 });
  });

  test(
    'a refresh begun on one is followed on the other in two ways at once, row by row to the end',
    { timeout: 120_000 },
    async ({ cluster }) => {
      const million = await makeMillion(cluster.admin, MILLION);
      const operation = await beginRefresh(cluster.admin, million.id, 'first load');
      const there = at(cluster.b, cluster.admin);
      for (const told of await Promise.all([
        everything(byEvents(there, operation)),
        everything(bySocket(there, operation)),
      ])) {
        const rows = told.map(({ current }) => current ?? 0);
        expect(rows).toEqual(rows.toSorted((a, b) => a - b));
        expect(new Set(rows.filter((current) => current > 0)).size).toBeGreaterThan(2);
        expect(told.at(-1)).toEqual({ status: 'succeeded', current: 1_000_000, percent: 100 });
      }
      expect(await there.get(`/datasets/${million.id}/data?limit=1`)).toMatchObject({
        status: 200,
        body: { total: 1_000_000 },
      });
      await million.drop();
    },
  );

  test('is cancelled through the other, down to the statement in the source; whoever waited hears of it', async ({
    cluster,
  }) => {
    const dataset = await makeMillion(cluster.admin, GATED);
    const open = await dataset.closeGate();
    const waiting = cluster.admin.post(`/datasets/${dataset.id}/_refresh`, { progress: 'to be cancelled' });
    await eventually(async () => (await dataset.running()).length > 0);
    const there = at(cluster.b, cluster.admin);
    const following = everything(byEvents(there, 'to be cancelled'));
    expect(await there.delete('/progress/to be cancelled')).toMatchObject({ status: 202 });
    expect(await waiting).toMatchObject({ status: 409, body: { code: 'CANCELLED' } });
    expect((await following).at(-1)).toMatchObject({ status: 'cancelled' });
    // Postgres ends a cancelled statement a moment after it was told to.
    await eventually(async () => (await dataset.running()).length === 0);
    await open();
    await dataset.drop();
  });

  test('of two refreshes of a dataset, begun on either, one runs at a time', async ({ cluster }) => {
    const dataset = await makeMillion(cluster.admin, GATED);
    const there = at(cluster.b, cluster.admin);
    const open = await dataset.closeGate();
    const former = await beginRefresh(cluster.admin, dataset.id);
    await eventually(async () => (await dataset.running()).length > 0);
    const latter = await beginRefresh(there, dataset.id);
    expect(await first(byEvents(there, latter), () => true)).toMatchObject({ status: 'queued' });
    await open();
    expect((await everything(byEvents(there, former))).at(-1)).toMatchObject({ status: 'succeeded' });
    expect((await everything(byEvents(cluster.admin, latter))).at(-1)).toMatchObject({ status: 'succeeded' });
    const { startedAt } = (await there.get(`/progress/${latter}`)).body;
    expect(startedAt >= (await there.get(`/progress/${former}`)).body.finishedAt).toBe(true);
    await dataset.drop();
  });

  test('a client that hangs up cancels nothing', async ({ cluster }) => {
    const dataset = await makeMillion(cluster.admin, GATED);
    const open = await dataset.closeGate();
    const hangUp = new AbortController();
    const call = fetch(`${cluster.a}/api/datasets/${dataset.id}/_refresh`, {
      method: 'POST',
      headers: { ...cluster.admin.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ progress: 'unattended' }),
      signal: hangUp.signal,
    });
    await eventually(async () => (await dataset.running()).length > 0);
    hangUp.abort();
    await expect(call).rejects.toThrow('aborted');
    await open();
    expect((await everything(byEvents(at(cluster.b, cluster.admin), 'unattended'))).at(-1)).toMatchObject({
      status: 'succeeded',
      current: 4,
    });
    await dataset.drop();
  });

  test('logins are counted together', async ({ cluster }) => {
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

  test(
    'calls are counted together: who used up the limit on one is refused on the other',
    { timeout: 120_000 },
    async ({ cluster }) => {
      const greedy = await cluster.user('greedy');
      const there = at(cluster.b, greedy);
      const minute = () => Math.floor(Date.now() / 60_000);
      const callAll = (count: number) =>
        Promise.all(Array.from({ length: count }, async () => (await greedy.get('/session')).status));
      // The count begins anew with every minute of the clock; what a minute's end cut in two is done again.
      for (let began = -1; began !== minute();) {
        began = minute();
        await callAll(RATE_LIMIT_API);
        while (began === minute() && (await there.get('/session')).status !== 429)
          await new Promise((wake) => {
            setTimeout(wake, 200);
          });
      }
      expect(await greedy.get('/session')).toMatchObject({ status: 429 });
      expect(await cluster.admin.get('/session')).toMatchObject({ status: 200 });
    },
  );
});
