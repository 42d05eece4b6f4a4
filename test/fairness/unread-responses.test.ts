import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createOrders } from '../dataset/dataset-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectError } from '../support/expect.ts';
import { test as base } from '../support/shop-fixture.ts';

const TOO_MANY = 'A user may have at most 64 MiB of responses that were not received';

/** Without compression, which takes a second. */
const PLAIN = { 'accept-encoding': 'identity' };

/** Ann's dataset with a page of 16 MB. */
const test = base.extend<{ wide: { id: string } }>({
  wide: [
    async ({ ann, source }, use) => {
      const query = `select n, repeat(md5(n::text), 500) as filler from generate_series(1, 1000) n`;
      await use(await createOrders(ann, source, { name: 'Wide', query, refresh: true }));
    },
    { scope: 'file' },
  ],
});

const requestOf = (client: Client, path: string): string =>
  `GET /api${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${client.headers['authorization']}\r\n\r\n`;

/** Sends requests on one connection and reads nothing. */
async function sendUnread(client: Client, ...requests: string[]): Promise<Socket> {
  const socket = connect(Number(new URL(client.url).port), '127.0.0.1');
  socket.pause();
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(requests.join(''));
  return socket;
}

const largePage = (id: string) => `/datasets/${id}/data?limit=1000`;
const largeQuery = (id: string) => `{ dataset(id: "${id}") { data(limit: 1000) { items } } }`;

/** Waits until a large page of the client is refused. */
const untilRefused = (client: Client, id: string) =>
  expect.poll(async () => (await client.get(largePage(id), PLAIN)).status).toBe(429);

describe('responses that a user does not receive', () => {
  test('are limited to 64 MiB, until their connections close', async ({ ann, bob, admin, wide }) => {
    await ann.put(`/datasets/${wide.id}/shares/${bob.id}`, { accessLevel: 1 });
    const unread = await Promise.all(
      Array.from({ length: 6 }, () => sendUnread(ann, requestOf(ann, largePage(wide.id)))),
    );
    try {
      await untilRefused(ann, wide.id);
      await expectError(ann.get(largePage(wide.id)), 429, TOO_MANY);
      const inGraphql = await ann.request('POST', '/graphql', { query: largeQuery(wide.id) });
      expect([inGraphql.status, inGraphql.body.message]).toEqual([429, TOO_MANY]);
      // A change is done: no status asks the client to repeat it.
      const change = `mutation {
        updateDataset(id: "${wide.id}", input: { description: "changed" }) { data(limit: 1000) { items } }
      }`;
      await expect(ann.gql(change)).rejects.toThrow('fetch failed');
      expect((await ann.get(`/datasets/${wide.id}`)).body.description).toBe('changed');
      expect((await ann.get(`/datasets/${wide.id}/data?limit=2`)).body.count).toBe(2);
      for (const other of [bob, admin]) expect((await other.get(largePage(wide.id), PLAIN)).body.count).toBe(1000);
    } finally {
      for (const socket of unread) socket.destroy();
    }
    await expect.poll(async () => (await ann.get(largePage(wide.id), PLAIN)).status).toBe(200);
  });

  test('end the socket with the most unread bytes', async ({ service, ann, wide }) => {
    const open = async () => {
      const socket = new WebSocket(`${ann.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      await once(socket, 'open');
      socket.send(JSON.stringify({ type: 'connection_init', payload: ann.headers }));
      await once(socket, 'message');
      return socket;
    };
    const [unread, other] = [await open(), await open()];
    const printed = vi.spyOn(console, 'error');
    unread.on('error', () => {}).pause();
    // Otherwise the heartbeat would end it.
    const pongs = setInterval(() => unread.pong(), 1000);
    for (let n = 0; n < 9; n++)
      unread.send(JSON.stringify({ id: `${n}`, type: 'subscribe', payload: { query: largeQuery(wide.id) } }));
    const { clients } = service.app.websocketServer;
    await expect.poll(() => clients.size).toBe(1);
    clearInterval(pongs);
    expect([other.readyState, printed.mock.calls]).toEqual([WebSocket.OPEN, []]);
    printed.mockRestore();
    unread.terminate();
    other.close();
  });
});

test('a request that follows an unread one on its connection waits for its turn', async ({ ann, wide }) => {
  const slow = requestOf(ann, `/datasets/${wide.id}/export?format=json`);
  const text = 'changed by a pipelined request';
  const change = JSON.stringify({ description: text });
  const put =
    `PUT /api/datasets/${wide.id} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${ann.headers['authorization']}\r\n` +
    `content-type: application/json\r\ncontent-length: ${change.length}\r\n\r\n${change}`;
  const described = async () => (await ann.get(`/datasets/${wide.id}`)).body.description as string | null;
  const socket = await sendUnread(ann, slow, put);
  await setTimeout(1500);
  expect(await described()).not.toBe(text);
  socket.resume();
  await expect.poll(described).toBe(text);
  socket.destroy();
});
