import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect } from 'vitest';
import type { ApiResponse, Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/shop-fixture.ts';

describe('a data source', () => {
  test('that refuses a query is 500 with its message for a refresh or run, and the rows stay', async ({
    ann,
    source,
  }) => {
    const dataset = await ann.creates('/datasets', {
      name: 'Kept',
      datasourceId: source.id,
      query: 'select 1 as one',
      refresh: true,
    });
    await ann.put(`/datasets/${dataset.id}`, { query: 'select nothing' });
    for (const verb of ['_refresh', '_run']) {
      await expectBody(ann.post(`/datasets/${dataset.id}/${verb}`, {}), 500, {
        code: 'UPSTREAM_FAILED',
        message: expect.stringContaining('nothing'),
      });
    }
    expect((await ann.get(`/datasets/${dataset.id}/data`)).body).toMatchObject({
      total: 1,
      _embedded: { 'svc:record': [{ one: 1 }] },
    });
    expect((await ann.get(`/datasets/${dataset.id}`)).body).toMatchObject({
      records: 1,
      lastRefresh: { success: false, error: expect.stringContaining('nothing') },
    });
  });

  test('that is unreachable is an error with the request id, in a plain response too', async ({ admin }) => {
    const unreachable = await admin.creates('/datasources', {
      name: 'Unreachable',
      type: 'postgres',
      config: { host: '127.0.0.1', port: 1, database: 'd', user: 'u' },
    });
    const { status, headers, body } = await admin.get(`/datasources/${unreachable.id}/schema`);
    expect(status).toBe(500);
    expect(body).toMatchObject({ code: 'UPSTREAM_FAILED', requestId: headers.get('x-request-id') });
  });

  test('with a result that is too long is read up to a limit, and the result is truncated', async ({ ann, source }) => {
    const { status, body } = await ann.post(`/datasources/${source.id}/_query`, {
      query: `select g, repeat('x', 3000000) as x from generate_series(1, 100000) g`,
      limit: 1000,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ truncated: true });
    expect(body.rows.length).toBeLessThan(10);
  });
});

describe('a hostile server of a datasource cannot harm the service', () => {
  /** Creates a message of the Postgres protocol with any length field. */
  const createMessage = (kind: string, length: number, body = Buffer.alloc(Math.max(0, length - 4))) => {
    const head = Buffer.from(`${kind}....`);
    head.writeUInt32BE(length, 1);
    return Buffer.concat([head, body]);
  };
  const unknownAuthentication = createMessage('R', 8, Buffer.from([0, 0, 0, 99]));
  const cutRow = createMessage('D', 6, Buffer.from([0x7f, 0xff]));
  const ok = createMessage('R', 8);
  const ready = createMessage('Z', 5, Buffer.from('I'));

  /** Tests a datasource whose server responds with these bytes. */
  async function testDatasource(client: Client, bytes: readonly Buffer[]): Promise<ApiResponse> {
    const respond = (socket: Socket) => bytes.forEach((part) => socket.write(part));
    const server = createServer((socket) => socket.on('error', () => {}).once('data', () => respond(socket)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { id } = await client.creates('/datasources', {
      name: 'Hostile',
      type: 'postgres',
      config: { host: '127.0.0.1', port: (server.address() as AddressInfo).port, database: 'd', user: 'u' },
    });
    const response = await client.post(`/datasources/${id}/_test`);
    server.close();
    return response;
  }

  test.for([
    ['an authentication that does not exist', [unknownAuthentication]],
    ['a row without its values', [ok, ready, cutRow]],
    ['a message of two gigabytes', [ok, createMessage('S', 2 ** 31, Buffer.alloc(100))]],
    ['a message shorter than its own length', [ok, createMessage('S', 0, Buffer.alloc(0)), Buffer.alloc(100)]],
    ['noise', [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(50))]],
  ] as const)('by %s', async ([, bytes], { admin }) => {
    await expectBody(testDatasource(admin, bytes), 200, { ok: false, message: expect.any(String) });
    expect((await admin.get('/session')).status).toBe(200);
  });

  test('by a row that is longer than memory', async ({ ann, source }) => {
    const query = `select repeat('x', 100000000) as x`;
    await expectError(ann.post(`/datasources/${source.id}/_query`, { query }), 400, /MiB/);
  });
});
