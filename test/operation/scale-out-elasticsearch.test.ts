import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, test as base } from 'vitest';
import { SystemPool } from '../../src/adapters/database/system-pool.ts';
import { indexLocation, openIndex } from '../../src/adapters/dataset-index/open-index.ts';
import type { Platform } from '../../src/core/platform.ts';
import { sweepGenerations } from '../../src/operations/janitor.ts';
import { loadInstallationId } from '../../src/services/identity/bootstrap.ts';
import type { Client } from '../support/client.ts';
import { elasticsearch, HAS_ELASTICSEARCH } from '../support/engines.ts';
import { byEvents, bySocket, everything, first } from '../support/follow-operation.ts';
import { beginRefresh, makeMillion, shown, type Shown } from '../support/million-rows.ts';
import { createDatabase } from '../support/postgres.ts';
import {
  ADMIN_PASSWORD,
  allGone,
  at,
  byToken,
  logIn,
  newFolder,
  startProcess,
  treeOf,
  type ServiceProcess,
} from '../support/service-process.ts';
import { eventually } from './fixture.ts';

/** Enough rows to interrupt a load in the middle. */
const ROWS = 60_000;
const QUERY = `select n, r.name as region, r.rate * n as amount, now() as asked_at
  from generate_series(1, ${ROWS}) n join region r on r.id = n % 4`;
const TAKEOVER = { timeout: 150_000 };

/** Two web processes and a worker on one Postgres and one search engine, each with a data folder of its own. */
interface Cluster {
  admin: Client;
  a: string;
  b: string;
  database: string;
  engine: string;
  /** The connection to the engine, which a test can close. */
  relay: Relay;
  start(role: 'web' | 'worker'): Promise<ServiceProcess & { folder: string }>;
  worker: ServiceProcess & { folder: string };
}

/** A TCP relay to the engine. */
class Relay {
  readonly #sockets = new Set<Socket>();
  readonly #target: URL;
  #server: Server | undefined;
  port = 0;

  constructor(target: string) {
    this.#target = new URL(target);
  }

  async open(): Promise<void> {
    this.#server = createServer((socket) => {
      const upstream = connect(Number(this.#target.port), this.#target.hostname);
      for (const [one, other] of [
        [socket, upstream],
        [upstream, socket],
      ] as const) {
        this.#sockets.add(one);
        one.pipe(other);
        one
          .on('error', () => other.destroy())
          .on('close', () => {
            this.#sockets.delete(one);
            other.destroy();
          });
      }
    }).listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as { port: number }).port;
  }

  async close(): Promise<void> {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
    if (this.#server?.listening) await once(this.#server, 'close');
  }
}

const test = base.extend<{ cluster: Cluster }>({
  cluster: [
    async ({}, use) => {
      const stack = new AsyncDisposableStack();
      try {
        const { url: engine } = await elasticsearch();
        const relay = new Relay(engine);
        await relay.open();
        stack.defer(() => relay.close());
        const database = await createDatabase();
        stack.defer(database.drop);
        const shared = {
          DATABASE_URL: database.url,
          ELASTICSEARCH_URL: `http://127.0.0.1:${relay.port}`,
          APP_SECRET: 'a secret of several processes of enough characters',
          ADMIN_PASSWORD,
        };
        const start = async (ROLE: 'web' | 'worker') => {
          const folder = newFolder();
          stack.defer(folder.remove);
          const service = await startProcess({ ...shared, ROLE, DATA_DIR: folder.path });
          stack.defer(async () => {
            await service.end('SIGKILL');
          });
          return { ...service, folder: folder.path };
        };
        const [a, b, worker] = [await start('web'), await start('web'), await start('worker')];
        const admin = await byToken(await logIn(a.url));
        await use({ a: a.url, b: b.url, admin, database: database.url, engine, relay, start, worker });
      } finally {
        await stack.disposeAsync();
      }
    },
    { scope: 'file' },
  ],
});

/** Returns what readers see of `QUERY` when the regions have these names. */
const rowsOf = (name: (region: string) => string): Shown =>
  ['Asia', 'Europe', 'Africa', 'America'].map((region): [string, number] => [name(region), ROWS / 4]).toSorted();
const [OLD, NEW] = [rowsOf((region) => region), rowsOf((region) => region.toUpperCase())];

/** Runs the janitor without minimum ages. Returns what is left in the engine and which generations have a row. */
async function sweepAll({ database, engine, worker }: Cluster, folder: string) {
  const system = new SystemPool(database);
  const place = indexLocation({ DATA_DIR: folder, ELASTICSEARCH_URL: engine }, await loadInstallationId(system));
  const index = await openIndex(place);
  try {
    await sweepGenerations({ system, index, log: pino({ level: 'silent' }) } as unknown as Platform, {
      replacedAge: 0,
      orphanAge: 0,
    });
    const named = await system.query<{ id: string }>({ text: 'select id from dws.generation order by id' });
    const indexes = Object.entries(
      (await (await fetch(`${engine}/${place.engine!.prefix}*/_alias`)).json()) as Record<string, { aliases: object }>,
    );
    const staged = [folder, worker.folder].flatMap((one) =>
      existsSync(join(one, 'staging')) ? readdirSync(join(one, 'staging')) : [],
    );
    return {
      named: named.map(({ id }) => id),
      aliases: indexes
        .flatMap(([, { aliases }]) => Object.keys(aliases))
        .map((alias) => alias.slice(place.engine!.prefix.length))
        .toSorted(),
      indexes: indexes.length,
      staged,
    };
  } finally {
    await index.close();
    await system.close();
  }
}

describe.skipIf(!HAS_ELASTICSEARCH)('several processes on one Postgres and one Elasticsearch are one service', () => {
  test(
    'a refresh started on one can be followed on the other, and both serve its rows',
    TAKEOVER,
    async ({ cluster }) => {
      const million = await makeMillion(cluster.admin, QUERY);
      const operation = await beginRefresh(cluster.admin, million.id);
      const there = at(cluster.b, cluster.admin);
      for (const states of await Promise.all([
        everything(byEvents(there, operation)),
        everything(bySocket(there, operation)),
      ])) {
        const rows = states.map(({ current }) => current ?? 0);
        expect(rows).toEqual(rows.toSorted((a, b) => a - b));
        expect(states.at(-1)).toEqual({ status: 'succeeded', current: ROWS, percent: 100 });
      }
      for (const caller of [cluster.admin, there]) {
        expect(await shown(caller, million.id)).toEqual(OLD);
        expect(await caller.get(`/datasets/${million.id}/data?limit=2&sort=-n&q=asia&fields=n,region`)).toMatchObject({
          status: 200,
          body: {
            total: ROWS / 4,
            _embedded: {
              'svc:record': [
                { n: ROWS, region: 'Asia' },
                { n: ROWS - 4, region: 'Asia' },
              ],
            },
          },
        });
      }
      await million.drop();
    },
  );

  test(
    'the old rows of a killed worker stay until another has loaded the new ones; no indexes or files are left over',
    TAKEOVER,
    async ({ cluster }) => {
      const million = await makeMillion(cluster.admin, QUERY);
      await cluster.admin.creates(`/datasets/${million.id}/_refresh`, {});
      await million.sql('update region set name = upper(name)');
      const operation = await beginRefresh(cluster.admin, million.id);
      await first(byEvents(cluster.admin, operation), ({ current }) => (current ?? 0) > 0);
      const tree = await treeOf(cluster.worker.pid);
      await cluster.worker.end('SIGKILL');
      await allGone(tree);
      expect(await shown(cluster.admin, million.id)).toEqual(OLD);

      await cluster.start('worker');
      expect((await everything(byEvents(cluster.admin, operation))).at(-1)).toMatchObject({
        status: 'succeeded',
        current: ROWS,
      });
      expect(await shown(cluster.admin, million.id)).toEqual(NEW);
      const left = await sweepAll(cluster, cluster.worker.folder);
      expect(left).toEqual({ named: left.named, aliases: left.named, indexes: left.named.length, staged: [] });
      await million.drop();
    },
  );

  test(
    'without the engine only requests for rows return 503, and they work again when it is back',
    TAKEOVER,
    async ({ cluster }) => {
      const million = await makeMillion(cluster.admin, `select 1 as n, r.name as region from region r`);
      await cluster.admin.creates(`/datasets/${million.id}/_refresh`, {});
      await cluster.relay.close();
      const unavailable = {
        status: 503,
        body: { code: 'UNAVAILABLE' },
        headers: expect.toSatisfy((headers: Headers) => headers.has('retry-after')),
      };
      expect(await cluster.admin.get(`/datasets/${million.id}/data`)).toMatchObject(unavailable);
      expect(await cluster.admin.get(`/datasets/${million.id}/discover`)).toMatchObject(unavailable);
      expect(await cluster.admin.gql(`{ dataset(id: "${million.id}") { name data { total } } }`)).toMatchObject({
        errors: [{ extensions: { code: 'UNAVAILABLE' } }],
      });
      expect(await cluster.admin.get(`/datasets/${million.id}`)).toMatchObject({ status: 200, body: { records: 4 } });
      expect(await cluster.admin.request('GET', '/readyz')).toMatchObject({
        status: 503,
        body: { down: [{ name: 'index' }] },
      });
      expect(await cluster.admin.post(`/datasets/${million.id}/_run`, {})).toMatchObject({
        status: 200,
        body: { records: 4 },
      });

      await cluster.relay.open();
      await eventually(async () => (await cluster.admin.request('GET', '/readyz')).status === 200);
      expect(await cluster.admin.get(`/datasets/${million.id}/data`)).toMatchObject({
        status: 200,
        body: { total: 4 },
      });
      expect(await cluster.admin.creates(`/datasets/${million.id}/_refresh`, {})).toMatchObject({ records: 4 });
      await million.drop();
    },
  );
});
