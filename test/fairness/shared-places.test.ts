import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { closeStalledConnections } from '../../src/server/stalled-connections.ts';
import { createOrders } from '../dataset/dataset-fixture.ts';
import type { Client } from '../support/client.ts';
import { createSource, test } from '../support/shop-fixture.ts';
import { createForm, DATASOURCES } from '../support/upload-form.ts';

/** Runs `work` while other requests run that do not end during a test. `ended` returns how many have ended. */
async function whileBusy(
  start: (signal: AbortSignal) => Promise<unknown>[],
  work: (ended: () => number) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  let ended = 0;
  const requests = start(stop.signal).map((request) =>
    request
      .then(() => {
        ended++;
      })
      .catch(() => {}),
  );
  try {
    await work(() => ended);
  } finally {
    stop.abort();
    await Promise.all(requests);
  }
}

const post = (client: Client, path: string, body: object, signal: AbortSignal) =>
  fetch(`${client.url}/api${path}`, {
    method: 'POST',
    headers: { ...client.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });

const times = <T>(count: number, create: () => T): T[] => Array.from({ length: count }, create);

describe('a caller at the limit of places', () => {
  test('does not delay another one’s query of a database', async ({ ann, stranger, shop, source }) => {
    const other = await createSource(stranger, shop);
    await whileBusy(
      (signal) =>
        times(30, () => post(ann, `/datasources/${source.id}/_query`, { query: 'select pg_sleep(20)' }, signal)),
      async (ended) => {
        await expect
          .poll(async () => (await shop.sql(`select from pg_stat_activity where query like '%pg_sleep(20)%'`)).length)
          .toBeGreaterThanOrEqual(8);
        const { status, body } = await stranger.post(`/datasources/${other.id}/_query`, { query: 'select 1 as one' });
        expect([status, body.rows, ended()]).toEqual([200, [{ one: 1 }], 0]);
      },
    );
  });

  test('does not delay another one’s query of an uploaded file', async ({ admin, stranger }) => {
    const upload = async (client: Client) =>
      (await client.request('POST', `/api${DATASOURCES}`, createForm('a\n1\n'))).body;
    const [slow, quick] = [await upload(admin), await upload(stranger)];
    const query = 'select count(*) as n from range(1000000) a(x), range(1000000) b(y) where x * y % 7 = 3';
    await whileBusy(
      (signal) => times(6, () => post(admin, `/datasources/${slow.id}/_query`, { query }, signal)),
      async (ended) => {
        await expect.poll(() => spawnSync('pgrep', ['-f', 'query-process/main']).status).toBe(0);
        const { status, body } = await stranger.post(`/datasources/${quick.id}/_query`, {
          query: 'select a from data',
        });
        expect([status, body.rows, ended()]).toEqual([200, [{ a: 1 }], 0]);
      },
    );
  });

  test('does not delay another one’s read of resources', async ({ service, ann, stranger }) => {
    const blocker = new pg.Client({ connectionString: service.databaseUrl });
    await blocker.connect();
    await blocker.query('begin; lock table dws.search_entry in access exclusive mode');
    const waiting = async () =>
      (await blocker.query(`select from pg_locks where relation = 'dws.search_entry'::regclass and not granted`))
        .rowCount;
    const search = (signal: AbortSignal) =>
      fetch(`${ann.url}/api/search?q=report`, { headers: ann.headers, signal }).then((response) => response.text());
    try {
      await whileBusy(
        (signal) => times(30, () => search(signal)),
        async (ended) => {
          await expect.poll(waiting).toBeGreaterThanOrEqual(4);
          expect((await stranger.get('/datasets')).status).toBe(200);
          const { data } = await stranger.gql('{ datasets { items { id } } }');
          expect(data.datasets.items).toEqual([]);
          expect([await waiting(), ended()]).toEqual([4, 0]);
        },
      );
    } finally {
      await blocker.end();
    }
  });

  test('does not delay another one’s question to the index', async ({ ann, admin, source }) => {
    const query = 'select n, md5(n::text) as h, n % 1000 as k from generate_series(1, 300000) n';
    const large = await createOrders(ann, source, { name: 'Many', query, refresh: true });
    const small = await createOrders(ann, source, { name: 'Few', refresh: true });
    const body = { groupBy: [{ field: 'h' }, { field: 'n' }], measures: [{ fn: 'count', as: 'rows' }] };
    await whileBusy(
      (signal) => times(30, () => post(ann, `/datasets/${large.id}/_aggregate`, body, signal)),
      async (ended) => {
        await expect.poll(ended).toBeGreaterThan(0);
        const before = ended();
        const response = await admin.get(`/datasets/${small.id}/data?limit=1`);
        expect([response.status, response.body.count]).toEqual([200, 1]);
        expect(ended() - before).toBeLessThan(8);
      },
    );
  });
});

/** Sends the request of an export and reads nothing of its response. */
async function startUnreadExport(client: Client, id: string): Promise<Socket> {
  const socket = connect(Number(new URL(client.url).port), '127.0.0.1');
  socket.pause();
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    `GET /api/datasets/${id}/export?format=json HTTP/1.1\r\nhost: localhost\r\n` +
      `authorization: ${client.headers['authorization']}\r\n\r\n`,
  );
  return socket;
}

test('unread exports do not block exports of others, and end', async ({ service, ann, admin, source }) => {
  const query = `select n, repeat(md5(n::text), 8) as filler from generate_series(1, 100000) n`;
  const { id } = await createOrders(ann, source, { name: 'Large', query, refresh: true });
  const { server } = service.app;
  const connections = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  const before = await connections();
  const stalled = await Promise.all(times(6, () => startUnreadExport(ann, id)));
  try {
    const ofAdmin = await admin.get(`/datasets/${id}/export?format=ndjson&fields=n`);
    expect(ofAdmin.body.trim().split('\n').length).toBe(100_000);

    // New connections are watched with a shorter timeout. Data that the client sends does not count.
    const stopWatch = closeStalledConnections(server, 600);
    const watched = await Promise.all(times(6, () => startUnreadExport(admin, id)));
    const sending = setInterval(() => {
      for (const socket of watched) socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n');
    }, 100);
    await expect.poll(connections).toBeLessThanOrEqual(before + stalled.length + 2);
    clearInterval(sending);
    stopWatch();
    for (const socket of watched) socket.destroy();
    expect((await admin.get(`/datasets/${id}/export?format=csv&fields=n`)).status).toBe(200);
  } finally {
    for (const socket of stalled) socket.destroy();
  }
});

test.for(['xlsx', 'csv'])(
  'exports as %s that are cancelled at any moment free their places',
  async (format, { ann, source }) => {
    const { id } = await createOrders(ann, source, { name: `Cancelled ${format}`, refresh: true });
    const cancel = async (milliseconds: number) => {
      const call = get(`${ann.url}/api/datasets/${id}/export?format=${format}`, { headers: ann.headers, agent: false });
      call.on('error', () => {}).on('response', (response) => response.on('error', () => {}));
      await setTimeout(milliseconds);
      call.destroy();
    };
    for (let round = 0; round < 25; round++) await Promise.all([0, 1, 2, 3].map((n) => cancel((round * 4 + n) % 60)));
    const { status } = await ann.get(`/datasets/${id}/export?format=${format}`);
    expect(status).toBe(200);
  },
);

test('a HEAD of an export reads no rows and has no error', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source, { name: 'Headers', refresh: true });
  const { status, headers, body } = await ann.request('HEAD', `/api/datasets/${id}/export?format=csv`);
  expect([status, headers.get('content-type'), body]).toEqual([200, 'text/csv; charset=utf-8', '']);
});
