import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import { newId } from '../../src/core/id.ts';
import { CHANNELS } from '../../src/core/operations.ts';
import { createOrders } from '../dataset/dataset-fixture.ts';
import { eventually } from '../operation/fixture.ts';
import type { Client } from '../support/client.ts';
import { expectError } from '../support/expect.ts';
import { runSql } from '../support/run-sql.ts';
import { test as base } from '../support/shop-fixture.ts';
import { recordStatements } from '../support/statement-log.ts';

const test = base.extend<{ orders: { id: string } }>({
  orders: [async ({ ann, source }, use) => use(await createOrders(ann, source, { refresh: true })), { scope: 'file' }],
});

type Message = { id?: string; type: string; payload?: any };

/** An authenticated GraphQL socket, or one that was closed. */
class Socket {
  readonly ws: WebSocket;
  readonly messages: Message[] = [];
  closed: { code: number; reason: string } | null = null;

  constructor(ws: WebSocket) {
    this.ws = ws;
    ws.on('message', (data) => this.messages.push(JSON.parse(String(data)) as Message));
    ws.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) };
    });
  }

  static async open(client: Client): Promise<Socket> {
    const socket = new Socket(new WebSocket(`${client.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws'));
    await once(socket.ws, 'open');
    socket.ws.send(JSON.stringify({ type: 'connection_init', payload: client.headers }));
    await expect.poll(() => socket.closed ?? socket.messages.length > 0).toBeTruthy();
    return socket;
  }

  subscribe(id: string, query: string): void {
    this.ws.send(JSON.stringify({ id, type: 'subscribe', payload: { query } }));
  }

  /** Waits for this many messages of a type. */
  received(type: string, count: number): Promise<Message[]> {
    const found = () => this.messages.filter((message) => message.type === type);
    return eventually(async () => (found().length >= count ? found() : null));
  }

  async close(): Promise<void> {
    this.ws.close();
    await expect.poll(() => this.closed).toBeTruthy();
  }
}

describe('a user has at most', () => {
  test('50 open sockets', async ({ ann, bob }) => {
    const sockets = await Promise.all(Array.from({ length: 50 }, () => Socket.open(ann)));
    expect(sockets.filter(({ closed }) => closed)).toEqual([]);
    expect((await Socket.open(ann)).closed).toEqual({ code: 4429, reason: 'A user may have at most 50 open sockets' });
    const ofBob = await Socket.open(bob);
    expect(ofBob.closed).toBeNull();

    await sockets.pop()!.close();
    const next = await eventually(async () => {
      const socket = await Socket.open(ann);
      return socket.closed ? null : socket;
    });
    await Promise.all([...sockets, next, ofBob].map((socket) => socket.close()));
  });

  test('200 open subscriptions, streams of REST included', async ({ ann, bob, orders }) => {
    const subscription = `subscription { datasetUpdated(id: "${orders.id}") { id } }`;
    const sockets = await Promise.all([Socket.open(ann), Socket.open(ann)]);
    for (const socket of sockets) for (let n = 0; n < 100; n++) socket.subscribe(`${n}`, subscription);
    for (const socket of sockets) await socket.received('next', 100);

    const third = await Socket.open(ann);
    third.subscribe('one too many', subscription);
    const [refused] = await third.received('next', 1);
    const message = 'A user may have at most 200 open subscriptions';
    expect(refused).toMatchObject({
      id: 'one too many',
      payload: { errors: [{ message, extensions: { code: 'RATE_LIMITED', status: 429 } }] },
    });
    await expectError(ann.get(`/datasets/${orders.id}/export?format=csv`), 429, message);
    const shared = await Socket.open(bob);
    shared.subscribe('1', `subscription { datasetUpdated(id: "unknown") { id } }`);
    const [response] = await shared.received('next', 1);
    expect(response!.payload.errors[0].message).toBe('There is no dataset unknown');

    sockets[0]!.ws.send(JSON.stringify({ id: '7', type: 'complete' }));
    await expect.poll(async () => (await ann.get(`/datasets/${orders.id}/export?format=csv`)).status).toBe(200);
    await Promise.all([...sockets, third, shared].map((socket) => socket.close()));
  });

  test('as many subscriptions as before after it used one id again and again', async ({ service, ann, orders }) => {
    const subscription = `subscription { datasetUpdated(id: "${orders.id}") { id } }`;
    const socket = await Socket.open(ann);
    for (let n = 0; n < 250; n++) {
      socket.subscribe('1', subscription);
      if (n % 2) await setTimeout(n % 20);
      socket.ws.send(JSON.stringify({ id: '1', type: 'complete' }));
    }
    await socket.close();
    const sockets = await Promise.all([Socket.open(ann), Socket.open(ann)]);
    for (const one of sockets) for (let n = 0; n < 100; n++) one.subscribe(`${n}`, subscription);
    for (const one of sockets)
      expect((await one.received('next', 100)).filter(({ payload }) => payload.errors)).toEqual([]);
    await Promise.all(sockets.map((one) => one.close()));
    await expect.poll(async () => (await ann.get(`/datasets/${orders.id}/export?format=csv`)).status).toBe(200);
    expect(service.app.server.listening).toBe(true);
  });

  test('100 waiting operations, in both APIs', async ({ service, ann, admin, orders }) => {
    await runSql(
      service.databaseUrl,
      `insert into dws.operation (id, tenant_id, work_id, user_id, operation, resource_kind, resource_id, status)
        select gen_random_uuid(), u.tenant_id, gen_random_uuid(), u.id, 'dataset.refresh', 'dataset', $2, 'queued'
        from dws.app_user u, generate_series(1, 100)
        where u.id = $1`,
      [ann.id, newId()],
    );
    const count = async () =>
      (await runSql(service.databaseUrl, 'select from dws.operation where user_id = $1', [ann.id])).length;
    const before = await count();
    const message = 'A user may have at most 100 waiting operations';
    const refused = await ann.post(`/datasets/${orders.id}/_refresh`);
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED', message } });
    expect(refused.headers.get('retry-after')).toBe('10');
    const { status, errors } = await ann.gql(`mutation { refreshDataset(id: "${orders.id}") { operation { id } } }`);
    expect([status, errors[0].message, errors[0].extensions.code]).toEqual([429, message, 'RATE_LIMITED']);
    expect(await count()).toBe(before);

    expect((await admin.post(`/datasets/${orders.id}/_refresh`)).status).toBe(200);
    await runSql(service.databaseUrl, `delete from dws.operation where user_id = $1 and status = 'queued'`, [ann.id]);
    expect((await ann.post(`/datasets/${orders.id}/_refresh`)).status).toBe(200);
  });
});

test('subscriptions of one user to one dataset share its reads', async ({ service, ann, admin, orders }) => {
  const subscription = (fields: string) => `subscription { datasetUpdated(id: "${orders.id}") { ${fields} } }`;
  const SAME = subscription('id name fields { name } filters { id }');
  const [socket, ofAdmin] = [await Socket.open(ann), await Socket.open(admin)];
  let [expected, subscribed] = [0, 0];
  const subscribe = async (count: number) => {
    for (let n = 0; n < count; n++) socket.subscribe(`same ${subscribed++}`, SAME);
    await socket.received('next', (expected += count));
  };
  /** Publishes an update. Returns the statements that it takes until every subscription has received it. */
  const publish = async (round: number): Promise<number> => {
    const { statements } = await recordStatements(service, async () => {
      service.platform.notifications.notifyLocally(CHANNELS.dataset, orders.id);
      await socket.received('next', (expected += subscribed + 1));
      await ofAdmin.received('next', round + 1);
    });
    return statements.length;
  };
  socket.subscribe('other', subscription('id slug'));
  ofAdmin.subscribe('admin', subscription('id name'));
  await ofAdmin.received('next', 1);
  expected = 1;
  await subscribe(1);
  const ofOne = await publish(1);
  await subscribe(40);
  expect(await publish(2)).toBe(ofOne);

  const updates = (await socket.received('next', expected)).slice(-42);
  const [same] = updates.filter(({ id }) => id !== 'other').map(({ payload }) => payload.data.datasetUpdated);
  expect(same).toMatchObject({ id: orders.id, name: 'Orders', fields: [{ name: 'id' }, {}, {}, {}, {}], filters: [] });
  for (const { id, payload } of updates)
    expect(payload.data.datasetUpdated).toEqual(id === 'other' ? { id: orders.id, slug: 'orders' } : same);
  await Promise.all([socket, ofAdmin].map((one) => one.close()));
});
