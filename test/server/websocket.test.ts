import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { startService, type Service } from '../support/service.ts';

type Message = { id?: string; type: string; payload?: any };

/** A client of graphql-transport-ws that shows every message. */
class Socket {
  readonly ws: WebSocket;
  readonly #received: Message[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #wake: () => void = () => {};

  constructor(url: string, headers: Record<string, string> = {}) {
    this.ws = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers });
    this.ws.on('message', (data) => {
      this.#received.push(JSON.parse(String(data)));
      this.#wake();
    });
    this.closed = new Promise((resolve) =>
      this.ws.once('close', (code, reason) => {
        resolve({ code, reason: String(reason) });
        this.#wake();
      }),
    );
  }

  async send(message: Message): Promise<void> {
    if (this.ws.readyState === WebSocket.CONNECTING) await new Promise((resolve) => this.ws.once('open', resolve));
    this.ws.send(JSON.stringify(message));
  }

  /** Returns the next message. Throws when the socket is closed. */
  async next(): Promise<Message> {
    while (!this.#received.length) {
      if (this.ws.readyState === WebSocket.CLOSED) throw new Error('The socket is closed');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#received.shift()!;
  }

  /** Sends credentials. Returns the message received. */
  async init(payload?: object): Promise<Message> {
    await this.send({ type: 'connection_init', ...(payload && { payload }) });
    return this.next();
  }

  /** Runs a query or mutation. Returns its only message before `complete`. */
  async run(query: string, more: object = {}): Promise<Message> {
    await this.send({ id: '1', type: 'subscribe', payload: { query, ...more } });
    const message = await this.next();
    if (message.type === 'next') expect(await this.next()).toMatchObject({ type: 'complete' });
    return message;
  }
}

/** Opens a socket with the client's token. */
async function connect(client: Client): Promise<Socket> {
  const socket = new Socket(client.url);
  expect(await socket.init({ authorization: client.headers['authorization'] })).toEqual({ type: 'connection_ack' });
  return socket;
}

/** Code and reason of a socket that is closed without valid credentials. */
const FORBIDDEN = { code: 4403, reason: 'Forbidden' };

/** Stores a running operation of the user that does not finish. Returns its id. */
async function createRunningOperation(service: Service, userId: string): Promise<string> {
  const [row] = await service.platform.system.query<{ id: string }>({
    text: `
      insert into dws.operation
        (id, tenant_id, work_id, user_id, operation, resource_kind, resource_id, status, heartbeat_at)
      select
        ids.id, u.tenant_id, ids.id, u.id, 'dataset.refresh', 'dataset', ids.id, 'running', now() + interval '1 hour'
      from dws.app_user u, (select gen_random_uuid() as id) ids
      where u.id = $1
      returning id`,
    values: [userId],
  });
  return row!.id;
}

describe('a socket', () => {
  test('is closed with 4403 without valid credentials', async ({ service, anonymous }) => {
    for (const payload of [
      undefined,
      {},
      { authorization: 'Bearer nonsense' },
      { authorization: `Bearer dws_${'A'.repeat(43)}` },
      { authorization: 42 },
    ]) {
      const socket = new Socket(service.url);
      await socket.send({ type: 'connection_init', ...(payload && { payload }) });
      expect(await socket.closed, JSON.stringify(payload)).toEqual(FORBIDDEN);
    }
    const unauthenticated = new Socket(anonymous.url);
    await unauthenticated.send({ id: '1', type: 'subscribe', payload: { query: '{ __typename }' } });
    expect((await unauthenticated.closed).code).toBe(4401);
  });

  test('is authenticated by the token in its connection parameters', async ({ ann }) => {
    const socket = await connect(ann);
    expect(
      await socket.run('query Q($n: String!) { me { username } user(username: $n) { username } }', {
        variables: { n: 'ann' },
        operationName: 'Q',
      }),
    ).toEqual({ id: '1', type: 'next', payload: { data: { me: { username: 'ann' }, user: { username: 'ann' } } } });
    expect(
      await socket.run('mutation { updateMe(input: { displayName: "By socket" }) { displayName } }'),
    ).toMatchObject({ payload: { data: { updateMe: { displayName: 'By socket' } } } });
    socket.ws.close();
  });

  test('accepts the session cookie on a same-origin upgrade only', async ({ service, ann }) => {
    expect(ann.username).toBe('ann');
    const cookie = (await service.login('ann')).headers['cookie']!;
    const sameOrigin = new Socket(service.url, { cookie, origin: service.url });
    expect(await sameOrigin.init()).toEqual({ type: 'connection_ack' });
    expect(await sameOrigin.run('{ session { authMethod } }')).toMatchObject({
      payload: { data: { session: { authMethod: 'SESSION' } } },
    });
    sameOrigin.ws.close();
    for (const headers of [
      { cookie },
      { cookie, origin: 'https://evil.example' },
      { cookie, origin: 'null' },
      { cookie, origin: `https://${'ä'.repeat(100)}.example` },
    ] as Record<string, string>[]) {
      const socket = new Socket(service.url, headers);
      await socket.send({ type: 'connection_init' });
      const { origin } = headers;
      const reason = `Origin ${origin?.replaceAll('ä', '?')} is not in CORS_ORIGINS`.slice(0, 123);
      expect(await socket.closed).toEqual(origin === undefined ? FORBIDDEN : { ...FORBIDDEN, reason });
    }
  });

  test('returns errors that repeat at most 100 characters of a message, and limits as over HTTP', async ({ ann }) => {
    const socket = await connect(ann);
    const long = 'x'.repeat(100_000);
    const short = `${'x'.repeat(100)}…`;
    for (const [query, variables, message] of [
      [`{ user(username: "${long}") { id } }`, {}, `There is no user ${short}`],
      [`{ ${long} }`, {}, `Cannot query field "${short}" on type "Query".`],
      ['query Q($n: Int) { users(limit: $n) { count } }', { n: long }, '"limit" must be an integer'],
    ] as const)
      expect((await socket.run(query, { variables })).payload, query.slice(0, 20)).toEqual(
        expect.toSatisfy((payload) => (payload.errors ?? payload)[0].message === message),
      );
    const deep = `{ __schema { types { ${'fields { type { '.repeat(3)} name ${'} } '.repeat(3)} } } }`;
    expect((await socket.run(deep)).payload).toMatchObject([{ extensions: { code: 'GRAPHQL_LIMIT', status: 400 } }]);
    socket.ws.close();
  });

  test('validates long documents like short ones, and returns introspection as over HTTP', async ({ ann }) => {
    const socket = await connect(ann);
    const invalid = '{ me { nothing } auditEvents(limit: "many") { items { id } } }';
    const long = await socket.run(`${invalid}${' '.repeat(3000)}`);
    expect(long).toMatchObject({ type: 'error', payload: [{ message: expect.stringContaining('"nothing"') }, {}] });
    expect(long).toEqual(await socket.run(invalid));
    const query = '{ __schema { queryType { name } } me { username } }';
    expect((await socket.run(query)).payload.data).toEqual(await ann.data(query));
    socket.ws.close();
  });

  test('checks scopes and permissions, and returns errors in the form of HTTP', async ({ service, ann }) => {
    const reader = await connect(await service.user('reader', { scopes: ['read'] }));
    expect(await reader.run('mutation { updateMe(input: { displayName: "x" }) { id } }')).toMatchObject({
      payload: {
        errors: [{ message: 'This token lacks the scope write', extensions: { code: 'FORBIDDEN', status: 403 } }],
      },
    });
    const socket = await connect(ann);
    for (const [query, code, status] of [
      ['{ user(username: "nobody") { id } }', 'NOT_FOUND', 404],
      ['mutation { createTeam(input: { name: "x" }) { id } }', 'FORBIDDEN', 403],
    ] as const)
      expect(await socket.run(query), query).toMatchObject({
        type: 'next',
        payload: { errors: [{ extensions: { code, status } }] },
      });
    for (const [query, code, status] of [
      ['{ nothing }', 'BAD_USER_INPUT', 400],
      ['{', 'BAD_USER_INPUT', 400],
      ['query A { me { id } } query B { me { id } }', 'BAD_USER_INPUT', 400],
      [`{ ${'a: __typename '.repeat(5001)} }`, 'GRAPHQL_LIMIT', 400],
      ['{a'.repeat(4900), 'GRAPHQL_LIMIT', 400],
      [`{ ${Array.from({ length: 60 }, (_, n) => `a${n}: me { id }`).join(' ')} }`, 'GRAPHQL_LIMIT', 400],
    ] as const) {
      const message = await socket.run(query);
      expect(message, query.slice(0, 60)).toMatchObject({ type: 'error', payload: [{ extensions: { code, status } }] });
    }
    expect(
      await socket.run('query Q($n: Int!) { users(limit: $n) { count } }', { variables: { n: 'many' } }),
    ).toMatchObject({ payload: { errors: [{ extensions: { code: 'BAD_USER_INPUT', status: 400 } }] } });
    socket.ws.close();
    reader.ws.close();
  });

  test('counts its operations towards the limit of the caller', async () => {
    const service = await startService({ RATE_LIMIT_API: '5' });
    const user = await service.user('busy');
    const socket = await connect(user);
    const messages: Message[] = [];
    for (let n = 0; n < 12; n++) messages.push(await socket.run('{ me { username } }'));
    expect(messages[0]).toMatchObject({ type: 'next' });
    // A new minute may start among the twelve operations, so at least one of them is the sixth of its minute.
    const refused = {
      type: 'error',
      id: '1',
      payload: [{ message: 'Too many requests', extensions: { code: 'RATE_LIMITED', status: 429 } }],
    };
    expect(messages).toContainEqual(refused);
    socket.ws.close();
    await service.close();
  });
});

describe('a subscription', () => {
  const progress = (id: string) => `subscription { progress(id: "${id}") { id status } }`;

  test('requires access to its resource, and starts with the current state', async ({
    service,
    ann,
    bob,
    stranger,
  }) => {
    const id = await createRunningOperation(service, ann.id);
    const socket = await connect(ann);
    await socket.send({ id: 's', type: 'subscribe', payload: { query: progress(id) } });
    expect(await socket.next()).toEqual({
      id: 's',
      type: 'next',
      payload: { data: { progress: { id, status: 'RUNNING' } } },
    });
    for (const other of [bob, stranger]) {
      const otherSocket = await connect(other);
      expect(await otherSocket.run(progress(id))).toMatchObject({
        payload: { errors: [{ extensions: { code: 'NOT_FOUND', status: 404 } }] },
      });
      otherSocket.ws.close();
    }
    await service.platform.system.query({
      text: `update dws.operation set status = 'failed', finished_at = now(), sequence = sequence + 1 where id = $1`,
      values: [id],
    });
    expect(await socket.next()).toMatchObject({ id: 's', payload: { data: { progress: { status: 'FAILED' } } } });
    expect(await socket.next()).toEqual({ id: 's', type: 'complete' });
    socket.ws.close();
  });

  test('ends with its socket when the user is disabled or deleted, or the credential ends', async ({
    service,
    admin,
  }) => {
    const ends: [string, (client: Client) => Promise<unknown>][] = [
      ['disabled', () => admin.put('/users/sub-disabled', { enabled: false })],
      ['deleted', () => admin.delete('/users/sub-deleted')],
      [
        'ended',
        async (client) => client.delete(`/tokens/${(await client.get('/tokens')).body._embedded['svc:token'][0].id}`),
      ],
    ];
    for (const [name, end] of ends) {
      const user = await service.user(`sub-${name}`);
      const socket = await connect(user);
      await socket.send({
        id: 's',
        type: 'subscribe',
        payload: { query: progress(await createRunningOperation(service, user.id)) },
      });
      expect(await socket.next(), name).toMatchObject({ type: 'next' });
      await end(user);
      expect(await socket.closed, name).toEqual(FORBIDDEN);
    }

    await service.user('sub-logout');
    const session = await service.login('sub-logout');
    const socket = new Socket(service.url, { cookie: session.headers['cookie']!, origin: service.url });
    expect(await socket.init()).toEqual({ type: 'connection_ack' });
    await session.post('/logout');
    expect(await socket.closed).toEqual(FORBIDDEN);

    const brief = await service.user('sub-brief');
    await service.platform.system.query({
      text: `update dws.api_token set expires_at = now() + interval '5 seconds' where user_id = $1`,
      values: [brief.id],
    });
    expect(await (await connect(brief)).closed).toEqual(FORBIDDEN);
  });

  test('sees a change of permissions that does not end the credential', async ({ service, admin }) => {
    const user = await service.user('sub-kept');
    const socket = await connect(user);
    expect(await socket.run('mutation { createTeam(input: { name: "Soon" }) { name } }')).toMatchObject({
      payload: { errors: [{ extensions: { code: 'FORBIDDEN' } }] },
    });
    await admin.put('/users/sub-kept/global-permissions', { permissions: ['teams:create'] });
    expect(
      await socket.run('mutation { createTeam(input: { name: "Soon" }) { name permissions { edit } } }'),
    ).toMatchObject({ payload: { data: { createTeam: { name: 'Soon', permissions: { edit: true } } } } });
    socket.ws.close();
  });
});

test('a stopping service closes its sockets and streams', async () => {
  const service = await startService();
  const user = await service.user('last');
  const id = await createRunningOperation(service, user.id);
  const socket = await connect(user);
  const stream = await fetch(`${service.url}/api/progress/${id}/events`, { headers: user.headers });
  expect(stream.status).toBe(200);
  await service.close();
  expect(await socket.closed).toEqual({ code: 1001, reason: 'Going away' });
  await expect(
    stream.text().then(
      () => 'ended',
      () => 'ended',
    ),
  ).resolves.toBe('ended');
});
