import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import { createTenant } from '../../src/services/identity/bootstrap.ts';
import { Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { PASSWORD, startService } from '../support/service.ts';

const DATABASE_DOWN = 'The database does not respond';

/** Opens an authenticated GraphQL socket. `messages` collects what it receives. */
async function openSocket({ url, headers }: Client): Promise<{ socket: WebSocket; messages: string[] }> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const messages: string[] = [];
  socket.on('message', (data) => messages.push(String(data)));
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: headers['authorization'] } }));
  await expect.poll(() => messages).toEqual(['{"type":"connection_ack"}']);
  return { socket, messages };
}

describe('the database connection', () => {
  test('may be lost: requests are 503 then, and work afterwards without a restart', async () => {
    const database = await createDatabase();
    const proxy = new PostgresProxy(database.url);
    await proxy.open();
    const service = await startService({ ROLE: 'web' }, { databaseUrl: proxy.url });
    try {
      await createTenant(service.platform.system, 'default');
      const ann = await service.user('ann');
      const anonymous = new Client(service.url);
      const getReady = () => anonymous.request('GET', '/readyz');
      const { socket, messages } = await openSocket(ann);
      await expectBody(getReady(), 200, { status: 'ok' });

      await proxy.close();
      await expect.poll(async () => (await getReady()).status).toBe(503);
      expect((await getReady()).body).toMatchObject({ status: 'unavailable' });
      await expect
        .poll(async () => (await getReady()).body.down.map(({ name }: { name: string }) => name))
        .toEqual(['postgres', 'migrations', 'queue', 'notifications']);
      await expectBody(anonymous.request('GET', '/healthz'), 200, { status: 'ok' });
      const refused = await ann.get('/me');
      await expectBody(refused, 503, {
        statusCode: 503,
        code: 'UNAVAILABLE',
        message: DATABASE_DOWN,
        requestId: refused.headers.get('x-request-id'),
      });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await ann.gql('{ me { id } }')).toMatchObject({
        status: 503,
        errors: [{ message: DATABASE_DOWN, extensions: { code: 'UNAVAILABLE', status: 503 } }],
      });
      await expectError(anonymous.post('/login', { username: 'ann', password: PASSWORD }), 503);

      await proxy.open();
      await expect.poll(async () => (await getReady()).status).toBe(200);
      expect((await ann.get('/me')).status).toBe(200);
      await expectBody(ann.put('/me', { displayName: 'Back' }), 200, { displayName: 'Back' });
      expect(await ann.data('{ me { displayName } }')).toEqual({ me: { displayName: 'Back' } });
      socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: '{ me { displayName } }' } }));
      await expect
        .poll(() => messages[1])
        .toBe('{"id":"1","type":"next","payload":{"data":{"me":{"displayName":"Back"}}}}');
      socket.close();
    } finally {
      await service.close();
      await proxy.close();
      await database.drop();
    }
  });

  test('may be terminated by Postgres during requests', async ({ service, ann }) => {
    const terminateConnections = () =>
      runSql(
        service.databaseUrl,
        `select count(pg_terminate_backend(pid))
        from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
      );
    const statuses = new Set<number>();
    for (let round = 0; round < 3; round++) {
      const requests = Array.from({ length: 40 }, (_, n) =>
        n % 2 ? ann.get('/users?limit=5') : ann.put('/me', { givenName: `Ann ${n}` }),
      );
      await terminateConnections();
      for (const { status } of await Promise.all(requests)) statuses.add(status);
    }
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    await expect.poll(async () => (await ann.request('GET', '/readyz')).status).toBe(200);
    expect((await ann.get('/me')).status).toBe(200);
  });
});

describe('metrics', () => {
  test('are for requests of this machine, and not through a proxy on it', async ({ service, anonymous }) => {
    await anonymous.get('/me');
    const metrics = await anonymous.request('GET', '/metrics');
    expect(metrics.status).toBe(200);
    expect(metrics.body).toMatch(/dws_http_request_seconds_count\{method="GET",route="\/api\/me",status="401"\} \d/);
    expect(metrics.body).toMatch(/^dws_operations_open|# TYPE dws_operations_open/m);
    expect(metrics.headers.get('content-type')).toMatch('text/plain');
    const throughProxy: Record<string, string>[] = [
      { 'x-forwarded-for': '203.0.113.9' },
      { forwarded: 'for=203.0.113.9' },
    ];
    for (const headers of throughProxy)
      await expectError(anonymous.request('GET', '/metrics', undefined, headers), 401);
    expect(service.platform.config.METRICS_TOKEN).toBeUndefined();
  });

  test('require METRICS_TOKEN if it is set', async () => {
    const service = await startService({ METRICS_TOKEN: 'measure me' });
    const client = new Client(service.url);
    const getStatus = async (authorization?: string) =>
      (await client.request('GET', '/metrics', undefined, authorization ? { authorization } : {})).status;
    for (const authorization of [undefined, 'Bearer wrong', 'Bearer measure mee', 'measure me'])
      expect(await getStatus(authorization), authorization).toBe(401);
    expect(await getStatus('Bearer measure me')).toBe(200);
    await service.close();
  });
});
