import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import { createTenant } from '../../src/services/identity/bootstrap.ts';
import { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { PASSWORD, startService, type Service } from '../support/service.ts';

describe('every answer', () => {
  const ADDRESSES = [
    '/api/me',
    '/api/nope',
    '/graphql/schema.graphql',
    '/',
    '/graphiql',
    '/api/docs',
    '/healthz',
    '/nope',
  ];

  test('carries security headers and an id, the client’s own if it is harmless', async ({ ann }) => {
    for (const path of [...ADDRESSES, '/graphql?query=%7B__typename%7D']) {
      const { headers } = await ann.request('GET', path, undefined, {
        'x-request-id': 'mine-42',
        'apollo-require-preflight': '1',
      });
      expect(headers.get('x-request-id'), path).toBe('mine-42');
      expect(headers.get('x-content-type-options'), path).toBe('nosniff');
      expect(headers.get('x-frame-options'), path).toBe('SAMEORIGIN');
      expect(headers.get('referrer-policy'), path).toBe('no-referrer');
      expect(headers.get('content-security-policy'), path).toMatch(/default-src '(none|self)'.*frame-ancestors 'none'/);
      expect(headers.get('x-powered-by'), path).toBeNull();
      expect(headers.get('strict-transport-security'), path).toBeNull();
    }
    for (const id of ['a b', 'x'.repeat(65), '<script>'])
      expect((await ann.get('/me', { 'x-request-id': id })).headers.get('x-request-id')).toMatch(
        /^[0-9a-f]{8}-[0-9a-f-]{27}$/,
      );
    expect((await ann.get('/me')).headers.get('x-request-id')).not.toBe(
      (await ann.get('/me')).headers.get('x-request-id'),
    );
  });

  test('is compressed as the client accepts it, when it is worth it', async ({ service, ann }) => {
    for (let n = 0; n < 10; n++) await service.user(`many${n}`);
    for (const [accepted, used] of [
      ['gzip', 'gzip'],
      ['br, gzip', 'br'],
      ['identity', null],
    ] as const) {
      const answer = await ann.get('/users-list', { 'accept-encoding': accepted });
      expect(answer.body.length).toBeGreaterThan(10);
      expect(answer.headers.get('content-encoding')).toBe(used);
      if (used) expect(answer.headers.get('vary')).toMatch(/accept-encoding/i);
    }
    expect(
      (await ann.get('/users/ann/memberships', { 'accept-encoding': 'gzip' })).headers.get('content-encoding'),
    ).toBeNull();
  });
});

describe('what is not there', () => {
  test('is 404, and 405 with `Allow` where another method is known', async ({ ann, anonymous }) => {
    for (const path of ['/nope', '/api/nope', '/api', '/graphql/nope']) {
      expect(await ann.request('GET', path), path).toMatchObject({
        status: 404,
        body: { statusCode: 404, error: 'Not Found', code: 'NOT_FOUND', message: `There is no route GET ${path}` },
      });
      expect(await anonymous.request('GET', path), path).toMatchObject({ status: 404 });
    }
    for (const [method, path, allow] of [
      ['DELETE', '/graphql', 'GET, HEAD, POST, OPTIONS'],
      ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
      ['DELETE', '/api/me', 'GET, HEAD, PUT, OPTIONS'],
      ['PUT', '/', 'GET, HEAD, OPTIONS'],
    ] as const) {
      const answer = await ann.request(method, path);
      expect(answer, path).toMatchObject({ status: 405, body: { statusCode: 405, code: 'METHOD_NOT_ALLOWED' } });
      expect(answer.headers.get('allow')!.split(', ').sort(), path).toEqual(allow.split(', ').sort());
      expect((await ann.request('OPTIONS', path)).status).toBe(204);
    }
    expect(await ann.request('HEAD', '/api/me')).toMatchObject({ status: 200, body: '' });
    expect((await ann.request('GET', '/api/users/%zz')).status).toBe(400);
  });

  test('is no reason to read more than 10 MB of JSON', async ({ ann }) => {
    const large = JSON.stringify({ displayName: 'x'.repeat(10 * 1024 * 1024) });
    for (const [method, path] of [
      ['PUT', '/api/me'],
      ['POST', '/graphql'],
    ] as const) {
      expect(await ann.request(method, path, large, { 'content-type': 'application/json' }), path).toMatchObject({
        status: 413,
        body: { code: 'PAYLOAD_TOO_LARGE' },
      });
    }
    expect(await ann.put('/me', '{"displayName":', { 'content-type': 'application/json' })).toMatchObject({
      status: 400,
    });
    expect(
      await ann.put('/me', 'displayName=x', { 'content-type': 'application/x-www-form-urlencoded' }),
    ).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
    expect(await ann.get('/me', { accept: 'text/csv' })).toMatchObject({ status: 406 });
  });

  test('waits for no slow client longer than five minutes, and for no quiet connection', ({ service }) => {
    expect(service.app.server.requestTimeout).toBe(300_000);
    expect(service.app.server.headersTimeout).toBeLessThanOrEqual(60_000);
    expect(service.app.server.keepAliveTimeout).toBe(72_000);
  });
});

describe('GraphQL over HTTP', () => {
  test('answers 400 for what does not parse, validate or pass the limits, 401 without credentials, otherwise 200', async ({
    ann,
    anonymous,
  }) => {
    for (const [query, code] of [
      ['{', 'BAD_USER_INPUT'],
      ['{ nothing }', 'BAD_USER_INPUT'],
      [`{ ${'a: __typename '.repeat(5001)} }`, 'GRAPHQL_LIMIT'],
      [`{ ${Array.from({ length: 60 }, (_, n) => `a${n}: me { id }`).join(' ')} }`, 'GRAPHQL_LIMIT'],
      [`{ users(limit: 1000) { items { memberships { team { members { user { id } } } } } } }`, 'GRAPHQL_LIMIT'],
    ] as const)
      expect(await ann.gql(query), query.slice(0, 60)).toMatchObject({
        status: 400,
        errors: [{ extensions: { code, status: 400 } }],
      });
    // Whether the tokens end first or the stack, nesting is refused.
    for (const query of ['{a'.repeat(4900), `${'{a'.repeat(3000)}${'}'.repeat(3000)}`])
      expect(await ann.gql(query)).toMatchObject({ status: 400, errors: [{ extensions: { status: 400 } }] });
    expect(await ann.gql('query Q($n: Int) { users(limit: $n) { count } }', { n: 'x' })).toMatchObject({
      status: 400,
      errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
    });
    expect(await ann.gql('{ users(limit: 0) { count } }')).toMatchObject({
      status: 200,
      errors: [{ extensions: { code: 'BAD_USER_INPUT', status: 400 } }],
    });
    expect(await ann.gql('{ me { id } user(username: "nobody") { id } }')).toMatchObject({
      status: 200,
      errors: [{ path: ['user'], extensions: { code: 'NOT_FOUND', status: 404 } }],
    });
    expect((await ann.gql('{ me { id } }')).extensions).toEqual({ cost: expect.any(Number) });
    const refused = await anonymous.gql('{ me { id } }');
    expect(refused).toMatchObject({
      status: 401,
      errors: [{ message: 'Missing authentication', extensions: { code: 'UNAUTHENTICATED', status: 401 } }],
    });
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    expect(JSON.stringify(await ann.gql('{ user(username: 1) { id } }'))).not.toMatch(/stacktrace|node_modules/);
  });

  test('shows the schema to everybody, unless PUBLIC_SCHEMA is false', async ({ anonymous }) => {
    expect(await anonymous.data('{ __schema { queryType { name } } }')).toEqual({
      __schema: { queryType: { name: 'Query' } },
    });
    const service = await startService({ PUBLIC_SCHEMA: 'false' });
    const stranger = new Client(service.url);
    for (const query of [
      '{ __schema { queryType { name } } }',
      'query { ...F } fragment F on Query { __type(name: "User") { name } }',
      '{ ... { a: __schema { types { name } } } }',
    ]) {
      expect(await stranger.gql(query), query).toMatchObject({
        status: 401,
        errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
      });
    }
    for (const path of ['/graphql/schema.graphql', '/graphql/subgraph.graphql', '/api/openapi.json'])
      expect((await stranger.request('GET', path)).status, path).toBe(401);
    const user = await service.user('ann');
    expect(await user.data('{ __schema { queryType { name } } }')).toEqual({
      __schema: { queryType: { name: 'Query' } },
    });
    expect((await user.request('GET', '/graphql/schema.graphql')).status).toBe(200);
    await service.close();
  });
});

describe('the state of the service', () => {
  /** A door to Postgres that can be shut: connections through it break, new ones are refused. */
  class Door {
    readonly #sockets = new Set<Socket>();
    #server: Server | null = null;
    port = 0;
    readonly to: number;

    constructor(to: number) {
      this.to = to;
    }

    async open(): Promise<void> {
      const server = (this.#server = createServer((near) => {
        const far = connect(this.to, '127.0.0.1');
        for (const [one, other] of [
          [near, far],
          [far, near],
        ] as const) {
          this.#sockets.add(
            one
              .on('error', () => other.destroy())
              .on('close', () => {
                this.#sockets.delete(one);
                other.destroy();
              }),
          );
          one.pipe(other);
        }
      }));
      await new Promise<void>((resolve) => {
        server.listen(this.port, '127.0.0.1', resolve);
      });
      this.port = (server.address() as AddressInfo).port;
    }

    async shut(): Promise<void> {
      const closed = new Promise((resolve) => this.#server!.close(resolve));
      for (const socket of this.#sockets) socket.destroy();
      await closed;
    }
  }

  test('is told by /healthz and /readyz; without Postgres requests get 503, and afterwards all works without a restart', async () => {
    const database = await createDatabase();
    const address = new URL(database.url);
    const door = new Door(Number(address.port));
    await door.open();
    address.port = String(door.port);
    const service = await startService({ ROLE: 'web' }, { databaseUrl: address.href });
    try {
      await createTenant(service.platform.system, 'default');
      const ann = await service.user('ann');
      const anonymous = new Client(service.url);
      const socket = new WebSocket(`${service.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      const heard: string[] = [];
      socket.on('message', (data) => heard.push(String(data)));
      await new Promise((resolve) => socket.once('open', resolve));
      socket.send(
        JSON.stringify({ type: 'connection_init', payload: { authorization: ann.headers['authorization'] } }),
      );
      await expect.poll(() => heard).toEqual(['{"type":"connection_ack"}']);
      expect(await anonymous.request('GET', '/readyz')).toMatchObject({ status: 200, body: { status: 'ok' } });

      await door.shut();
      await expect.poll(async () => (await anonymous.request('GET', '/readyz')).status).toBe(503);
      const { body } = await anonymous.request('GET', '/readyz');
      expect(body).toMatchObject({ status: 'unavailable' });
      await expect
        .poll(async () =>
          (await anonymous.request('GET', '/readyz')).body.down.map(({ name }: { name: string }) => name),
        )
        .toEqual(['postgres', 'migrations', 'queue', 'notifications']);
      expect(await anonymous.request('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
      const refused = await ann.get('/me');
      expect(refused).toMatchObject({
        status: 503,
        body: {
          statusCode: 503,
          code: 'UNAVAILABLE',
          message: 'The database does not answer',
          requestId: refused.headers.get('x-request-id'),
        },
      });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await ann.gql('{ me { id } }')).toMatchObject({
        status: 503,
        errors: [{ message: 'The database does not answer', extensions: { code: 'UNAVAILABLE', status: 503 } }],
      });
      expect(await anonymous.post('/login', { username: 'ann', password: PASSWORD })).toMatchObject({ status: 503 });

      await door.open();
      await expect.poll(async () => (await anonymous.request('GET', '/readyz')).status, { timeout: 10_000 }).toBe(200);
      expect(await ann.get('/me')).toMatchObject({ status: 200 });
      expect(await ann.put('/me', { displayName: 'Back' })).toMatchObject({
        status: 200,
        body: { displayName: 'Back' },
      });
      expect(await ann.data('{ me { displayName } }')).toEqual({ me: { displayName: 'Back' } });
      socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: '{ me { displayName } }' } }));
      await expect
        .poll(() => heard[1])
        .toBe('{"id":"1","type":"next","payload":{"data":{"me":{"displayName":"Back"}}}}');
      socket.close();
    } finally {
      await service.close();
      await door.shut();
      await database.drop();
    }
  });

  test('survives that Postgres ends its connections in the middle of requests', async ({ service, ann }) => {
    const end = () =>
      runSql(
        service.databaseUrl,
        `select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      );
    const statuses = new Set<number>();
    for (let round = 0; round < 3; round++) {
      const calls = Array.from({ length: 40 }, (_, n) =>
        n % 2 ? ann.get('/users?limit=5') : ann.put('/me', { givenName: `Ann ${n}` }),
      );
      await end();
      for (const { status } of await Promise.all(calls)) statuses.add(status);
    }
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    await expect.poll(async () => (await ann.request('GET', '/readyz')).status, { timeout: 10_000 }).toBe(200);
    expect(await ann.get('/me')).toMatchObject({ status: 200 });
  });

  test('is measured for Prometheus: told to this machine, or to who brings METRICS_TOKEN', async ({
    service,
    anonymous,
  }) => {
    await anonymous.get('/me');
    const local = await anonymous.request('GET', '/metrics');
    expect(local).toMatchObject({
      status: 200,
      body: expect.stringMatching(/dws_http_request_seconds_count\{method="GET",route="\/api\/me",status="401"\} \d/),
    });
    expect(local.body).toMatch(/^dws_operations_open|# TYPE dws_operations_open/m);
    expect(local.headers.get('content-type')).toMatch('text/plain');
    for (const headers of [{ 'x-forwarded-for': '203.0.113.9' }, { forwarded: 'for=203.0.113.9' }] as Record<
      string,
      string
    >[]) {
      expect(
        await anonymous.request('GET', '/metrics', undefined, headers),
        'through a proxy on this machine',
      ).toMatchObject({ status: 401 });
    }
    expect(service.platform.config.METRICS_TOKEN).toBeUndefined();

    const guarded = await startService({ METRICS_TOKEN: 'measure me' });
    const client = new Client(guarded.url);
    for (const authorization of [undefined, 'Bearer wrong', 'Bearer measure mee', 'measure me']) {
      expect((await client.request('GET', '/metrics', undefined, authorization ? { authorization } : {})).status).toBe(
        401,
      );
    }
    expect((await client.request('GET', '/metrics', undefined, { authorization: 'Bearer measure me' })).status).toBe(
      200,
    );
    await guarded.close();
  });
});

test('the log has one line a request at level debug, errors with the id of their request, and never a secret', async () => {
  let log = '';
  const service = await startService(
    { LOG_LEVEL: 'trace' },
    {
      log: new Writable({
        write(chunk, _encoding, done) {
          log += String(chunk);
          done();
        },
      }),
    },
  );
  const secrets = [PASSWORD, 'a wrong password', 'argon2'];
  try {
    const ann = await service.user('ann');
    const anonymous = new Client(service.url);
    const session = await service.login('ann');
    await anonymous.post('/login', { username: 'ann', password: 'a wrong password' });
    await anonymous.gql('mutation L($p: String!) { login(username: "ann", password: $p) { expiresAt } }', {
      p: PASSWORD,
    });
    await anonymous.gql('mutation { login(username: "ann", password: 42) { expiresAt } }');
    await anonymous.post('/login', { username: 'ann', password: { [PASSWORD]: PASSWORD } });
    const { token } = await session.creates('/tokens', { name: 'secret' });
    await session.put('/me/password', { currentPassword: PASSWORD, password: 'a wrong password too' });
    secrets.push(token, ann.headers['authorization']!.slice(7), session.headers['cookie']!.slice(12));

    await runSql(service.databaseUrl, 'alter table dws.team rename to elsewhere');
    const failed = await ann.get('/teams?q=hidden-in-the-query', { 'x-request-id': 'find-me' });
    expect(failed).toMatchObject({
      status: 500,
      body: {
        statusCode: 500,
        error: 'Internal Server Error',
        code: 'INTERNAL',
        message: 'Something went wrong on our side',
        requestId: 'find-me',
      },
    });
    const broken = await ann.request(
      'POST',
      '/graphql',
      { query: '{ teams { total } }' },
      { 'x-request-id': 'find-me-too' },
    );
    expect(broken).toMatchObject({
      status: 200,
      body: {
        errors: [{ message: 'Something went wrong on our side', extensions: { code: 'INTERNAL', status: 500 } }],
      },
    });
    for (const { body } of [failed, broken])
      expect(JSON.stringify(body)).not.toMatch(/select|dws\.|relation|node_modules/);
  } finally {
    await service.close();
  }
  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const failure = lines.find(({ requestId, level }) => requestId === 'find-me' && level === 50);
  expect(failure.err.message).toMatch(/relation .* does not exist/);
  expect(lines.some(({ requestId, level }) => requestId === 'find-me-too' && level === 50)).toBe(true);
  expect(lines.filter(({ requestId, level }) => requestId === 'find-me' && level === 20)).toEqual([
    expect.objectContaining({ method: 'GET', route: '/api/teams', status: 500, ms: expect.any(Number) }),
  ]);
  expect(lines.filter(({ msg, route }) => msg === 'request answered' && route === '/api/login')).toHaveLength(3);
  const errors = lines.filter(({ level, requestId }) => level >= 40 && requestId).map(({ requestId }) => requestId);
  expect(errors, 'what clients do wrong is no error of ours').toEqual(['find-me', 'find-me-too']);
  for (const secret of [...secrets, 'hidden-in-the-query']) expect(log).not.toContain(secret);
});

describe('the limit of calls a minute', () => {
  /** Windows are minutes of the clock; who begins near the end of one waits for the next. */
  async function earlyInTheMinute(): Promise<void> {
    const left = 60_000 - (Date.now() % 60_000);
    if (left < 12_000) await new Promise((resolve) => setTimeout(resolve, left + 50));
  }
  const calls = async (client: Client, times: number) =>
    Promise.all(Array.from({ length: times }, async () => (await client.get('/me')).status));

  test('holds for a caller in both APIs and across processes', async () => {
    const limits = { RATE_LIMIT_API: '20' };
    const one = await startService(limits);
    const two = await startService({ ...limits, ROLE: 'web' }, { databaseUrl: one.databaseUrl });
    try {
      const [ann, bob] = [await one.user('ann'), await one.user('bob')];
      await earlyInTheMinute();
      const statuses = await calls(ann, 25);
      expect([
        statuses.filter((status) => status === 200).length,
        statuses.filter((status) => status === 429).length,
      ]).toEqual([20, 5]);
      const refused = await ann.get('/me');
      expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED', message: 'Too many requests' } });
      expect(Object.fromEntries(refused.headers)).toMatchObject({
        'retry-after': expect.stringMatching(/^\d+$/),
        'ratelimit-policy': '"api";q=20;w=60',
        ratelimit: expect.stringMatching(/^"api";r=0;t=\d+$/),
      });
      const said = await ann.gql('{ me { id } }');
      expect(said).toMatchObject({ status: 429, errors: [{ extensions: { code: 'RATE_LIMITED', status: 429 } }] });
      expect(said.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(await bob.get('/me')).toMatchObject({ status: 200 });

      const there = new Client(two.url, ann.headers);
      let tries = 0;
      await expect
        .poll(
          async () => {
            tries++;
            return (await there.get('/me')).status;
          },
          { interval: 600, timeout: 9000 },
        )
        .toBe(429);
      expect(tries).toBeLessThan(20);
      expect(await new Client(two.url, bob.headers).get('/me')).toMatchObject({ status: 200 });
    } finally {
      await two.close();
      await one.close();
    }
  });

  test('holds for an address that keeps inventing credentials, and leaves those who have some in peace', async () => {
    const service: Service = await startService({ RATE_LIMIT_API: '20' });
    try {
      const ann = await service.user('ann');
      expect(await ann.get('/me')).toMatchObject({ status: 200 });
      await earlyInTheMinute();
      const statuses: number[] = [];
      for (let n = 0; n < 30; n++)
        statuses.push(
          (await new Client(service.url, { authorization: `Bearer dws_${String(n).padStart(43, '0')}` }).get('/me'))
            .status,
        );
      expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401));
      expect(statuses.slice(20)).toEqual(Array(10).fill(429));
      expect(await ann.get('/me')).toMatchObject({ status: 200 });
    } finally {
      await service.close();
    }
  });
});
