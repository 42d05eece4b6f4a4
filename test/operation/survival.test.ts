import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, test as base } from 'vitest';
import { SystemPool } from '../../src/adapters/database/system-pool.ts';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { startEmbeddedPostgres } from '../../src/adapters/embedded-postgres/embedded-postgres.ts';
import { postmasterOf } from '../../src/adapters/embedded-postgres/postmaster.ts';
import { readRecord } from '../../src/adapters/embedded-postgres/record.ts';
import type { Platform } from '../../src/core/platform.ts';
import { sweepGenerations } from '../../src/operations/janitor.ts';
import { Client } from '../support/client.ts';
import { byEvents, bySocket, everything, first, openSocket } from '../support/follow-operation.ts';
import { beginRefresh, GATED, makeMillion, millionOf, shown } from '../support/million-rows.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import {
  ADMIN_PASSWORD,
  allGone,
  at,
  byToken,
  logIn,
  newFolder,
  runProcess,
  startProcess,
  treeOf,
  type ServiceProcess,
} from '../support/service-process.ts';
import { eventually } from './fixture.ts';
import { loaderOf } from './refreshable.ts';

/** A takeover starts after up to 30 seconds without a heartbeat; docs/contract/operations.md#takeover allows 60. */
const TAKEOVER = { timeout: 150_000 };

const OLD = millionOf((region) => region);
const NEW = millionOf((region) => region.toUpperCase());

/** Starts and creates what a test uses. All of it is closed after the test, the latest first. */
interface Resources {
  /** Creates an empty data folder. */
  createFolder(): string;
  startService(variables: Record<string, string>): Promise<ServiceProcess>;
  onEnd(close: () => unknown): void;
}

const test = base.extend<{ resources: Resources }>({
  resources: async ({}, use) => {
    const stack = new AsyncDisposableStack();
    await use({
      createFolder() {
        const { path, remove } = newFolder();
        stack.defer(remove);
        return path;
      },
      async startService(variables) {
        const service = await startProcess(variables);
        stack.defer(async () => {
          await service.end('SIGKILL');
        });
        return service;
      },
      onEnd: (close) =>
        stack.defer(async () => {
          await close();
        }),
    });
    await stack.disposeAsync();
  },
});

/**
 * Loads a dataset of a million old rows, starts a refresh with new rows, and calls `kill` in the middle. Returns the
 * ids of the dataset and of the refresh.
 */
async function interruptRefresh(resources: Resources, caller: Client, kill: () => Promise<void>) {
  const million = await makeMillion(caller);
  resources.onEnd(million.drop);
  await caller.creates(`/datasets/${million.id}/_refresh`, {});
  expect(await shown(caller, million.id)).toEqual(OLD);
  await million.sql('update region set name = upper(name)');
  const operation = await beginRefresh(caller, million.id);
  await first(byEvents(caller, operation), ({ current }) => (current ?? 0) > 0);
  await kill();
  return { dataset: million.id, operation };
}

/** Returns the different states of a dataset that readers see until its refresh has succeeded, in order. */
async function visibleStates(caller: Client, { dataset, operation }: { dataset: string; operation: string }) {
  const seen = new Set<string>();
  for (let isFinished = false; !isFinished;) {
    const { status } = (await caller.get(`/progress/${operation}`)).body;
    isFinished = status !== 'running' && status !== 'queued';
    if (isFinished) expect(status).toBe('succeeded');
    seen.add(JSON.stringify(await shown(caller, dataset)));
    await new Promise((wake) => {
      setTimeout(wake, 200);
    });
  }
  return [...seen].map((state) => JSON.parse(state) as unknown);
}

/** Runs the janitor without minimum ages. Returns what is left, and the number of attempts of the latest operation. */
async function sweepAll(url: string, dataDir: string): Promise<{ files: string[]; named: string[]; attempts: number }> {
  const system = new SystemPool(url);
  const index = openDuckdbIndex({ dir: join(dataDir, 'datasets') });
  try {
    await sweepGenerations({ system, index, log: pino({ level: 'silent' }) } as unknown as Platform, {
      replacedAge: 0,
      orphanAge: 0,
    });
    const rows = await system.query<{ id: string }>({ text: 'select id from dws.generation' });
    const [last] = await system.query<{ attempt: number }>({
      text: 'select attempt from dws.operation order by id desc limit 1',
    });
    return { files: readdirSync(join(dataDir, 'datasets')), named: rows.map(({ id }) => id), attempts: last!.attempt };
  } finally {
    await index.close();
    await system.close();
  }
}

/** Expects the rows of one dataset, from the second attempt of its second refresh, and nothing else. */
function expectOneGeneration({ files, named, attempts }: Awaited<ReturnType<typeof sweepAll>>): void {
  expect({ attempts, named: named.length }).toEqual({ attempts: 2, named: 1 });
  expect(files.filter((file) => !file.startsWith(named[0]!) || file.endsWith('.loading'))).toEqual([]);
}

describe.concurrent('the built service', () => {
  test('starts in an empty folder, prints its URL and login once, locks the folder, and leaves no process behind', async ({
    resources,
  }) => {
    const DATA_DIR = resources.createFolder();
    const service = await resources.startService({ DATA_DIR });
    const password = /Username admin {3}Password (\S+) /.exec(service.printed())![1]!;
    expect(service.printed().match(/Data Workspace Service at/g)).toHaveLength(1);
    expect(await logIn(service.url, 'admin', password)).toMatchObject({ username: 'admin' });

    expect(await runProcess({ DATA_DIR })).toEqual({
      code: 1,
      printed: expect.stringContaining(`is in use by process ${service.pid}. Stop that process first`),
    });

    const tree = await treeOf(service.pid);
    expect(tree).toContain(postmasterOf(readRecord(DATA_DIR)!.cluster)!.pid);
    expect(await service.end('SIGTERM')).toBe(0);
    await allGone(tree);

    const restarted = await resources.startService({ DATA_DIR });
    expect(restarted.printed()).not.toContain('Password');
    expect(await logIn(restarted.url, 'admin', password)).toMatchObject({ username: 'admin' });

    // The service ends with its parent, npm.
    const orphans = await treeOf(restarted.pid);
    expect(await restarted.abandon()).toBe(1);
    await allGone(orphans);
  });

  test(
    'that is killed with all its processes during a refresh serves the old rows after a restart, then the new ones',
    TAKEOVER,
    async ({ resources }) => {
      const DATA_DIR = resources.createFolder();
      const killed = await resources.startService({ DATA_DIR, ADMIN_PASSWORD });
      const admin = await byToken(await logIn(killed.url));
      const interrupted = await interruptRefresh(resources, admin, async () => {
        expect(await loaderOf(killed.pid)).toBeDefined();
        const tree = await treeOf(killed.pid);
        expect(await killed.end('SIGKILL')).toBe('SIGKILL');
        await allGone(tree);
      });

      const restarted = await resources.startService({ DATA_DIR, ADMIN_PASSWORD });
      const caller = at(restarted.url, admin);
      expect(await visibleStates(caller, interrupted)).toEqual([OLD, NEW]);
      const { port, password, cluster } = readRecord(DATA_DIR)!;
      expectOneGeneration(await sweepAll(`postgres://postgres:${password}@127.0.0.1:${port}/dws`, DATA_DIR));

      // The embedded Postgres restarts when it dies.
      process.kill(postmasterOf(cluster)!.pid, 'SIGKILL');
      expect(await eventually(() => shown(caller, interrupted.dataset).catch(() => null))).toEqual(NEW);
      expect(await restarted.end('SIGTERM')).toBe(0);
    },
  );

  test(
    'that loses a worker during a refresh serves the old rows until another worker has loaded the new ones',
    TAKEOVER,
    async ({ resources }) => {
      const DATA_DIR = resources.createFolder();
      const database = await createDatabase();
      resources.onEnd(database.drop);
      const shared = {
        DATABASE_URL: database.url,
        DATA_DIR,
        APP_SECRET: 'a secret of several processes of enough characters',
        ADMIN_PASSWORD,
      };
      const [web, worker] = await Promise.all([
        resources.startService({ ...shared, ROLE: 'web' }),
        resources.startService({ ...shared, ROLE: 'worker' }),
      ]);
      expect(web.printed()).toMatch(/GraphQL .* REST /);
      expect(worker.printed()).not.toMatch(/GraphQL|REST/);
      const caller = await byToken(await logIn(web.url));
      const interrupted = await interruptRefresh(resources, caller, async () => {
        const tree = await treeOf(worker.pid);
        await worker.end('SIGKILL');
        await allGone(tree);
      });
      const following = everything(bySocket(caller, interrupted.operation));
      await resources.startService({ ...shared, ROLE: 'worker' });

      expect(await visibleStates(caller, interrupted)).toEqual([OLD, NEW]);
      expect((await following).at(-1)).toEqual({ status: 'succeeded', current: 1_000_000, percent: 100 });
      expectOneGeneration(await sweepAll(database.url, DATA_DIR));
    },
  );

  test(
    'returns 503 while Postgres restarts; sessions, streams and running operations continue afterwards',
    TAKEOVER,
    async ({ resources }) => {
      const cluster = resources.createFolder();
      const before = await startEmbeddedPostgres({ dataDir: cluster, durable: false });
      resources.onEnd(() => before.close());
      const service = await resources.startService({
        DATABASE_URL: before.url,
        DATA_DIR: resources.createFolder(),
        ADMIN_PASSWORD,
      });
      const session = await logIn(service.url);
      const caller = await byToken(session);
      const dataset = await makeMillion(caller, GATED);
      resources.onEnd(dataset.drop);
      const openGate = await dataset.closeGate();
      const operation = await beginRefresh(caller, dataset.id);
      const following = Promise.all([everything(byEvents(caller, operation)), everything(bySocket(caller, operation))]);
      await eventually(async () => (await dataset.running()).length > 0);

      await before.close();
      const unavailable = {
        status: 503,
        headers: expect.toSatisfy((headers: Headers) => Number(headers.get('retry-after')) > 0),
      };
      const unavailableBody = { statusCode: 503, code: 'UNAVAILABLE' };
      expect(await caller.get('/datasets')).toMatchObject({ ...unavailable, body: unavailableBody });
      expect(await caller.get(`/progress/${operation}`)).toMatchObject({ ...unavailable, body: unavailableBody });
      expect(await session.get('/session')).toMatchObject({ ...unavailable, body: unavailableBody });
      expect(
        await new Client(service.url).post('/login', { username: 'admin', password: ADMIN_PASSWORD }),
      ).toMatchObject({ ...unavailable, body: unavailableBody });
      expect(await caller.gql('{ datasets { total } }')).toMatchObject({
        ...unavailable,
        errors: [{ extensions: { code: 'UNAVAILABLE' } }],
      });
      expect(await caller.request('GET', '/readyz')).toMatchObject({
        status: 503,
        body: { down: expect.arrayContaining([expect.objectContaining({ name: 'postgres' })]) },
      });
      expect(await caller.request('GET', '/healthz')).toMatchObject({ status: 200 });

      const after = await startEmbeddedPostgres({ dataDir: cluster, durable: false });
      resources.onEnd(() => after.close());
      await eventually(async () => (await caller.request('GET', '/readyz')).status === 200);
      expect(await session.get('/session')).toMatchObject({ status: 200 });
      await logIn(service.url);
      await openGate();
      for (const states of await following)
        expect(states.at(-1)).toEqual({ status: 'succeeded', current: 4, percent: 100 });
      expect(await caller.get(`/datasets/${dataset.id}/data`)).toMatchObject({ status: 200, body: { total: 4 } });
      expect(await service.end('SIGTERM')).toBe(0);
    },
  );

  test('on SIGTERM requeues what it cannot finish, closes all connections, and exits with status 0', async ({
    resources,
  }) => {
    const database = await createDatabase();
    resources.onEnd(database.drop);
    const shared = {
      DATABASE_URL: database.url,
      DATA_DIR: resources.createFolder(),
      APP_SECRET: 'a secret of several processes of enough characters',
      ADMIN_PASSWORD,
    };
    const leaving = await resources.startService(shared);
    const caller = await byToken(await logIn(leaving.url));
    const dataset = await makeMillion(caller, GATED);
    resources.onEnd(dataset.drop);
    const openGate = await dataset.closeGate();
    resources.onEnd(openGate);
    const waiting = caller.post(`/datasets/${dataset.id}/_refresh`, { progress: 'requeued' });
    await eventually(async () => (await dataset.running()).length > 0);
    const streamed = everything(byEvents(caller, 'requeued'));
    const socket = openSocket(caller);
    await everything(socket.iterate('{ me { username } }', {}));
    const tree = await treeOf(leaving.pid);

    // A shutdown of more than 30 seconds ends with status 1.
    expect(await leaving.end('SIGTERM')).toBe(0);
    await allGone(tree);
    expect(await waiting).toMatchObject({ status: 503 });
    expect((await streamed).at(-1)).toMatchObject({ status: expect.stringMatching(/^(running|queued)$/) as unknown });
    expect(await socket.closed).toBe(1001);
    await eventually(async () => (await dataset.running()).length === 0);
    expect(await runSql(database.url, 'select status from dws.operation')).toEqual([{ status: 'queued' }]);
  });
});
