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

/** A takeover waits up to 30 seconds for signs of life; the contract allows 60, and these machines are slow. */
const TAKEOVER = { timeout: 150_000 };

const OLD = millionOf((region) => region);
const NEW = millionOf((region) => region.toUpperCase());

/** What a test starts and makes; all of it ends with the test, the latest first. */
interface World {
  /** An empty data folder. */
  folder(): string;
  start(variables: Record<string, string>): Promise<ServiceProcess>;
  ends(end: () => unknown): void;
}

const test = base.extend<{ world: World }>({
  // vitest reads a fixture's needs from the pattern.
  world: async ({}, use) => {
    const stack = new AsyncDisposableStack();
    await use({
      folder() {
        const { path, remove } = newFolder();
        stack.defer(remove);
        return path;
      },
      async start(variables) {
        const started = await startProcess(variables);
        stack.defer(async () => {
          await started.end('SIGKILL');
        });
        return started;
      },
      ends: (end) =>
        stack.defer(async () => {
          await end();
        }),
    });
    await stack.disposeAsync();
  },
});

/** A dataset of a million old rows that is about to be refreshed with new ones; killed in the middle by `kill`. Answers the refresh's id. */
async function interruptRefresh(world: World, caller: Client, kill: () => Promise<void>) {
  const million = await makeMillion(caller);
  world.ends(million.drop);
  await caller.creates(`/datasets/${million.id}/_refresh`, {});
  expect(await shown(caller, million.id)).toEqual(OLD);
  await million.sql('update region set name = upper(name)');
  const operation = await beginRefresh(caller, million.id);
  await first(byEvents(caller, operation), ({ current }) => (current ?? 0) > 0);
  await kill();
  return { dataset: million.id, operation };
}

/** What readers see of a dataset until its refresh succeeded, in the order of its first sight. */
async function sights(caller: Client, { dataset, operation }: { dataset: string; operation: string }) {
  const seen = new Set<string>();
  for (let ended = false; !ended;) {
    const { status } = (await caller.get(`/progress/${operation}`)).body;
    ended = status !== 'running' && status !== 'queued';
    if (ended) expect(status).toBe('succeeded');
    seen.add(JSON.stringify(await shown(caller, dataset)));
    await new Promise((wake) => {
      setTimeout(wake, 200);
    });
  }
  return [...seen].map((sight) => JSON.parse(sight) as unknown);
}

/** What the janitor leaves in a data folder when it is as strict as it may be, and how often the latest operation was begun. */
async function afterJanitor(
  url: string,
  dataDir: string,
): Promise<{ files: string[]; named: string[]; attempts: number }> {
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

/** One dataset's rows, of the second attempt at its second refresh, and nothing else. */
function expectNothingLeft({ files, named, attempts }: Awaited<ReturnType<typeof afterJanitor>>): void {
  expect({ attempts, named: named.length }).toEqual({ attempts: 2, named: 1 });
  expect(files.filter((file) => !file.startsWith(named[0]!) || file.endsWith('.loading'))).toEqual([]);
}

describe.concurrent('the built service', () => {
  test(
    'starts in an empty folder, says once where it is and how to log in, keeps others out, and leaves nothing running',
    { timeout: 120_000 },
    async ({ world }) => {
      const DATA_DIR = world.folder();
      const service = await world.start({ DATA_DIR });
      const password = /Username admin {3}Password (\S+) /.exec(service.printed())![1]!;
      expect(service.printed().match(/Data Workspace Service at/g)).toHaveLength(1);
      expect(await logIn(service.url, 'admin', password)).toMatchObject({ username: 'admin' });

      expect(await runProcess({ DATA_DIR })).toEqual({
        code: 1,
        printed: expect.stringContaining(`is in use by process ${service.pid}. Stop that one first`),
      });

      const tree = await treeOf(service.pid);
      expect(tree).toContain(postmasterOf(readRecord(DATA_DIR)!.cluster)!.pid);
      expect(await service.end('SIGTERM')).toBe(0);
      await allGone(tree);

      const again = await world.start({ DATA_DIR });
      expect(again.printed()).not.toContain('Password');
      expect(await logIn(again.url, 'admin', password)).toMatchObject({ username: 'admin' });

      // A killed npm takes the service along.
      const orphans = await treeOf(again.pid);
      expect(await again.abandon()).toBe(1);
      await allGone(orphans);
    },
  );

  test(
    'killed with all it has in the middle of a refresh, serves the old rows again and brings the new ones',
    TAKEOVER,
    async ({ world }) => {
      const DATA_DIR = world.folder();
      const doomed = await world.start({ DATA_DIR, ADMIN_PASSWORD });
      const person = await byToken(await logIn(doomed.url));
      const interrupted = await interruptRefresh(world, person, async () => {
        expect(await loaderOf(doomed.pid)).toBeDefined();
        const tree = await treeOf(doomed.pid);
        expect(await doomed.end('SIGKILL')).toBe('SIGKILL');
        await allGone(tree);
      });

      const heir = await world.start({ DATA_DIR, ADMIN_PASSWORD });
      const caller = at(heir.url, person);
      expect(await sights(caller, interrupted)).toEqual([OLD, NEW]);
      const { port, password, cluster } = readRecord(DATA_DIR)!;
      expectNothingLeft(await afterJanitor(`postgres://postgres:${password}@127.0.0.1:${port}/dws`, DATA_DIR));

      // Our own Postgres comes back by itself when it dies.
      process.kill(postmasterOf(cluster)!.pid, 'SIGKILL');
      expect(await eventually(() => shown(caller, interrupted.dataset).catch(() => null))).toEqual(NEW);
      expect(await heir.end('SIGTERM')).toBe(0);
    },
  );

  test(
    'loses a worker in the middle of a refresh: readers see the old rows until another one brought the new',
    TAKEOVER,
    async ({ world }) => {
      const DATA_DIR = world.folder();
      const database = await createDatabase();
      world.ends(database.drop);
      const shared = {
        DATABASE_URL: database.url,
        DATA_DIR,
        APP_SECRET: 'a secret of several processes',
        ADMIN_PASSWORD,
      };
      const [web, doomed] = await Promise.all([
        world.start({ ...shared, ROLE: 'web' }),
        world.start({ ...shared, ROLE: 'worker' }),
      ]);
      const caller = await byToken(await logIn(web.url));
      const interrupted = await interruptRefresh(world, caller, async () => {
        const tree = await treeOf(doomed.pid);
        await doomed.end('SIGKILL');
        await allGone(tree);
      });
      const told = everything(bySocket(caller, interrupted.operation));
      await world.start({ ...shared, ROLE: 'worker' });

      expect(await sights(caller, interrupted)).toEqual([OLD, NEW]);
      expect((await told).at(-1)).toEqual({ status: 'succeeded', current: 1_000_000, percent: 100 });
      expectNothingLeft(await afterJanitor(database.url, DATA_DIR));
    },
  );

  test(
    'answers 503 while Postgres restarts, and goes on with all that was open when it is back',
    TAKEOVER,
    async ({ world }) => {
      const cluster = world.folder();
      const before = await startEmbeddedPostgres({ dataDir: cluster, durable: false });
      world.ends(() => before.close());
      const service = await world.start({ DATABASE_URL: before.url, DATA_DIR: world.folder(), ADMIN_PASSWORD });
      const session = await logIn(service.url);
      const caller = await byToken(session);
      const dataset = await makeMillion(caller, GATED);
      world.ends(dataset.drop);
      const open = await dataset.closeGate();
      const operation = await beginRefresh(caller, dataset.id);
      const following = Promise.all([everything(byEvents(caller, operation)), everything(bySocket(caller, operation))]);
      await eventually(async () => (await dataset.running()).length > 0);

      await before.close();
      const away = {
        status: 503,
        headers: expect.toSatisfy((headers: Headers) => Number(headers.get('retry-after')) > 0),
      };
      const unavailable = { statusCode: 503, code: 'UNAVAILABLE' };
      expect(await caller.get('/datasets')).toMatchObject({ ...away, body: unavailable });
      expect(await caller.get(`/progress/${operation}`)).toMatchObject({ ...away, body: unavailable });
      expect(await session.get('/session')).toMatchObject({ ...away, body: unavailable });
      expect(
        await new Client(service.url).post('/login', { username: 'admin', password: ADMIN_PASSWORD }),
      ).toMatchObject({ ...away, body: unavailable });
      expect(await caller.gql('{ datasets { total } }')).toMatchObject({
        ...away,
        errors: [{ extensions: { code: 'UNAVAILABLE' } }],
      });
      expect(await caller.request('GET', '/readyz')).toMatchObject({
        status: 503,
        body: { down: expect.arrayContaining([expect.objectContaining({ name: 'postgres' })]) },
      });
      expect(await caller.request('GET', '/healthz')).toMatchObject({ status: 200 });

      const after = await startEmbeddedPostgres({ dataDir: cluster, durable: false });
      world.ends(() => after.close());
      await eventually(async () => (await caller.request('GET', '/readyz')).status === 200);
      expect(await session.get('/session')).toMatchObject({ status: 200 });
      await logIn(service.url);
      await open();
      for (const told of await following)
        expect(told.at(-1)).toEqual({ status: 'succeeded', current: 4, percent: 100 });
      expect(await caller.get(`/datasets/${dataset.id}/data`)).toMatchObject({ status: 200, body: { total: 4 } });
      expect(await service.end('SIGTERM')).toBe(0);
    },
  );

  test(
    'told to end, hands back what it cannot finish, closes what is open, and ends well',
    { timeout: 120_000 },
    async ({ world }) => {
      const database = await createDatabase();
      world.ends(database.drop);
      const shared = {
        DATABASE_URL: database.url,
        DATA_DIR: world.folder(),
        APP_SECRET: 'a secret of several processes',
        ADMIN_PASSWORD,
      };
      const leaving = await world.start(shared);
      const caller = await byToken(await logIn(leaving.url));
      const dataset = await makeMillion(caller, GATED);
      world.ends(dataset.drop);
      const open = await dataset.closeGate();
      world.ends(open);
      const waiting = caller.post(`/datasets/${dataset.id}/_refresh`, { progress: 'handed back' });
      await eventually(async () => (await dataset.running()).length > 0);
      const streamed = everything(byEvents(caller, 'handed back'));
      const socket = openSocket(caller);
      await everything(socket.iterate('{ me { username } }', {}));
      const tree = await treeOf(leaving.pid);

      // Past 30 seconds it would end with 1.
      expect(await leaving.end('SIGTERM')).toBe(0);
      await allGone(tree);
      expect(await waiting).toMatchObject({ status: 503 });
      expect((await streamed).at(-1)).toMatchObject({ status: expect.stringMatching(/^(running|queued)$/) as unknown });
      // 1006 would be a connection that was cut off; what is closed in order, clients open again elsewhere.
      expect(await socket.closed).not.toBe(1006);
      await eventually(async () => (await dataset.running()).length === 0);
      expect(await runSql(database.url, 'select status from dws.operation')).toEqual([{ status: 'queued' }]);
    },
  );
});
