import { getNamedType, isCompositeType, isInputObjectType, isListType, type GraphQLArgument } from 'graphql';
import { createClient } from 'graphql-ws';
import pg from 'pg';
import { describe, expect, vi } from 'vitest';
import { WebSocket } from 'ws';
import { runCommand } from '../../src/server/cli/cli.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { FIXTURES, READABLE_BY_ALL } from '../conformance/fixtures.ts';
import { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { PASSWORD, type Service } from '../support/service.ts';

const UNKNOWN = '01900000-0000-7000-8000-000000000000';
const schema = await createSchema();

interface Event extends Record<string, unknown> {
  action: string;
  outcome: string;
  kind: string | null;
  resourceId: string | null;
  username: string;
  channel: string;
  tokenId: string | null;
  sessionId: string | null;
}

const EVENT = `select e.action, e.outcome, e.kind, e.resource_id as "resourceId", e.user_id as "userId", e.username, e.channel, e.address, e.token_id as "tokenId", e.session_id as "sessionId", e.request_id as "requestId", t.slug as tenant
  from dws.audit_event e join dws.tenant t on t.id = e.tenant_id`;

/** The events that `work` leaves, in their order. */
async function left(service: Service, work: () => Promise<unknown>): Promise<Event[]> {
  const { system } = service.platform;
  const before = await system.query<{ id: string }>({ text: 'select id from dws.audit_event' });
  await work();
  return system.query<Event>({
    text: `${EVENT} where e.id <> all($1) order by e.created_at`,
    values: [before.map(({ id }) => id)],
  });
}

const tokenOf = async (service: Service, { id }: Client): Promise<string> =>
  (
    await service.platform.system.query<{ id: string }>({
      text: `select id from dws.api_token where user_id = $1 and name = 'test'`,
      values: [id],
    })
  )[0]!.id;

/** Runs a document over a socket, with the client's token. */
async function bySocket(client: Client, query: string): Promise<unknown> {
  const socket = createClient({
    url: `${client.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: client.headers['authorization'] },
    retryAttempts: 0,
  });
  try {
    return (await socket.iterate({ query }).next()).value;
  } finally {
    await socket.dispose();
  }
}

describe('an audit event', () => {
  test('says who did what to which resource, from where, with which credential and in which channel', async ({
    admin,
    service,
  }) => {
    const id = await FIXTURES['datasets']!.create(admin, 'audited');
    const tokenId = await tokenOf(service, admin);
    const common = {
      action: 'updateDataset',
      kind: 'dataset',
      resourceId: id,
      outcome: 'succeeded',
      userId: admin.id,
      username: 'admin',
      tenant: 'default',
      address: '127.0.0.1',
      tokenId,
      sessionId: null,
    };
    const events = await left(service, async () => {
      await admin.put(`/datasets/${id}`, { description: 'one' }, { 'x-request-id': 'by-rest' });
      await admin
        .with({ 'x-request-id': 'by-graphql' })
        .data(`mutation { updateDataset(id: "${id}", input: { description: "two" }) { id } }`);
      await bySocket(
        admin,
        `mutation { updateDataset(id: "default:audited", input: { description: "three" }) { id } }`,
      );
    });
    expect(events).toEqual([
      { ...common, channel: 'rest', requestId: 'by-rest' },
      { ...common, channel: 'graphql', requestId: 'by-graphql' },
      { ...common, channel: 'websocket', requestId: expect.any(String) },
    ]);
  });

  test('is written for each mutation of a document, but for those that failed', async ({ admin, service }) => {
    const [one, two] = [
      await FIXTURES['reports']!.create(admin, 'first of two'),
      await FIXTURES['reports']!.create(admin, 'second of two'),
    ];
    // Thirty times, so that the compiled form of the document is seen too.
    for (let turn = 0; turn < 30; turn++) {
      expect(
        await left(service, () =>
          admin.gql(`mutation { updateReport(id: "${UNKNOWN}", input: { name: "b" }) { id } }`),
        ),
      ).toEqual([]);
      // What is wrong below a mutation that was done does not undo it.
      const events = await left(service, () =>
        admin.gql(
          `mutation { updateReport(id: "${one}", input: { description: "a" }) { shares { principalId } share(principalId: "nobody") { accessLevel } } }`,
        ),
      );
      expect(events.map(({ action, resourceId }) => [action, resourceId])).toEqual([['updateReport', one]]);
      const more = await left(service, () =>
        admin.gql(
          `mutation { a: favoriteReport(id: "${two}") { createdAt } b: unfavoriteReport(id: "first-of-two") c: createTag(input: { name: "tag ${turn}" }) { id } }`,
        ),
      );
      expect(more.map(({ action, kind, resourceId }) => [action, kind, resourceId])).toEqual([
        ['favoriteReport', 'report', two],
        ['unfavoriteReport', 'report', one],
        ['createTag', 'tag', expect.stringMatching(/^[0-9a-f-]{36}$/)],
      ]);
    }
  });

  test('is there when and only when its change is', async ({ admin, service }) => {
    const id = await FIXTURES['reports']!.create(admin, 'undone');
    // The name is written already when the tag is looked for.
    expect(
      await left(service, () => admin.put(`/reports/${id}`, { name: 'never', slug: 'never', tags: [UNKNOWN] })),
    ).toEqual([]);

    // A log that cannot be written keeps the change from being made.
    await runSql(
      service.databaseUrl,
      `alter table dws.audit_event add constraint full_disk check (action <> 'updateReport') not valid`,
    );
    try {
      expect(await admin.put(`/reports/${id}`, { name: 'never' })).toMatchObject({ status: 500 });
    } finally {
      await runSql(service.databaseUrl, `alter table dws.audit_event drop constraint full_disk`);
    }
    expect((await admin.get(`/reports/${id}`)).body.name).toBe('undone');
    expect((await admin.get(`/reports/${id}/activity`)).body.total).toBe(1);
  });

  test('costs a change one statement, which writes its activity too', async ({ admin }) => {
    const { id } = await admin.creates('/reports', { name: 'Cheap' });
    const spy = vi.spyOn(pg.Client.prototype, 'query');
    try {
      await admin.put(`/reports/${id}`, { description: 'x' });
      const texts = spy.mock.calls.map(([statement]) => String((statement as { text?: string }).text ?? statement));
      expect(texts.filter((text) => /dws\.(activity|audit_event)\b/.test(text))).toEqual([
        expect.stringMatching(/insert into dws\.activity[^]*insert into dws\.audit_event/),
      ]);
    } finally {
      spy.mockRestore();
    }
  });

  test('holds no value of any argument', async ({ admin, service }) => {
    const events = await left(service, async () => {
      await admin.creates('/users', {
        username: 'discreet',
        password: 'a hidden password',
        email: 'hidden@example.com',
        enabled: true,
      });
      await admin.creates('/datasources', {
        name: 'hidden name',
        type: 'postgres',
        config: { host: '127.0.0.1', port: 1, database: 'hidden_db', user: 'u' },
        secrets: { password: 'hidden' },
      });
      await new Client(admin.url).post('/login', { username: 'hidden words that are no name', password: 'hidden' });
      await new Client(admin.url).post('/password-reset/hidden-token', { password: 'a hidden password' });
    });
    expect(events.map(({ action, outcome }) => [action, outcome])).toEqual([
      ['createUser', 'succeeded'],
      ['createDatasource', 'succeeded'],
      ['login', 'denied'],
    ]);
    expect(JSON.stringify(events)).not.toMatch(/hidden/);
  });
});

describe('what people do with their credentials', () => {
  test('is audited from login to logout', async ({ service, ann }) => {
    const person = await service.user('traveller');
    let client!: Client;
    let token = '';
    const events = await left(service, async () => {
      client = await service.login('Traveller');
      token = (await client.creates('/tokens', { name: 'mine' })).id;
      await client.delete(`/tokens/${token}`);
      expect(
        await client.put('/me/password', { currentPassword: 'wrong', password: 'another long password' }),
      ).toMatchObject({ status: 400 });
      expect(
        await client.put('/me/password', { currentPassword: PASSWORD, password: 'another long password' }),
      ).toMatchObject({ status: 204 });
      expect(await client.put('/me', { displayName: 'Traveller' })).toMatchObject({ status: 200 });
      await client.post('/logout');
    });
    const { sessionId } = events[0]!;
    expect(sessionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(events.map(({ action, outcome, kind, resourceId }) => [action, outcome, kind, resourceId])).toEqual([
      ['login', 'succeeded', 'user', person.id],
      ['createToken', 'succeeded', 'token', token],
      ['deleteToken', 'succeeded', 'token', token],
      ['changePassword', 'denied', 'user', person.id],
      ['changePassword', 'succeeded', 'user', person.id],
      ['updateMe', 'succeeded', 'user', person.id],
      ['logout', 'succeeded', null, null],
    ]);
    for (const event of events)
      expect(event).toMatchObject({
        userId: person.id,
        username: 'traveller',
        sessionId,
        tokenId: null,
        channel: 'rest',
        address: '127.0.0.1',
      });
    expect(ann.id).not.toBe(person.id);
  });

  test('is audited when a login fails, whoever is named', async ({ service, ann, stranger }) => {
    const anybody = new Client(service.url);
    const events = await left(service, async () => {
      for (const body of [
        { username: 'ANN', password: 'wrong' },
        { username: 'nobody', password: 'wrong' },
        { username: 'stranger', password: 'wrong', tenant: 'other' },
        { username: 'ann', password: 'wrong', tenant: 'nowhere' },
      ]) {
        expect(await anybody.post('/login', body)).toMatchObject({ status: 401 });
      }
      expect(await anybody.gql(`mutation { login(username: "ann", password: "wrong") { expiresAt } }`)).toMatchObject({
        status: 401,
      });
    });
    const denied = {
      action: 'login',
      outcome: 'denied',
      kind: 'user',
      userId: null,
      tokenId: null,
      sessionId: null,
      address: '127.0.0.1',
      requestId: expect.any(String),
    };
    expect(events).toEqual([
      { ...denied, username: 'ANN', resourceId: 'ANN', tenant: 'default', channel: 'rest' },
      { ...denied, username: 'nobody', resourceId: 'nobody', tenant: 'default', channel: 'rest' },
      { ...denied, username: 'stranger', resourceId: 'stranger', tenant: 'other', channel: 'rest' },
      { ...denied, username: 'ann', resourceId: 'ann', tenant: 'default', channel: 'graphql' },
    ]);
    expect([ann.username, stranger.username]).toEqual(['ann', 'stranger']);
  });

  test('is audited when a mailed link sets a password', async ({ service, admin }) => {
    const person = await service.user('forgetful');
    const anybody = new Client(service.url);
    const events = await left(service, async () => {
      expect(await anybody.post('/password-reset', { username: 'forgetful' })).toMatchObject({ status: 204 });
      const [mail] = (await admin.get('/outbox?limit=1')).body._embedded['svc:mail'];
      const token = /password-reset\/([\w-]+)/.exec(mail.text)![1];
      expect(await anybody.post(`/password-reset/${token}`, { password: 'another long password' })).toMatchObject({
        status: 204,
      });
    });
    expect(events).toMatchObject([
      { action: 'requestPasswordReset', userId: null, username: 'forgetful', kind: 'user' },
      { action: 'resetPassword', userId: person.id, username: 'forgetful', kind: 'user', resourceId: person.id },
    ]);
  });

  test('is audited when an operator does it on the machine, in the transaction of the change', async ({ service }) => {
    const { databaseUrl, platform } = service;
    for (const [name, value] of Object.entries({
      DATABASE_URL: databaseUrl,
      DATA_DIR: platform.config.DATA_DIR,
      APP_SECRET: 'a secret for tests',
    }))
      vi.stubEnv(name, value);
    for (const stream of ['log', 'error'] as const) vi.spyOn(console, stream).mockImplementation(() => undefined);
    try {
      const run = (...args: string[]) => runCommand(['node', 'dws', ...args]);
      const events = await left(service, async () => {
        await run('tenant', 'create', 'acme');
        await run('user', 'create', 'eve', '--tenant', 'acme', '--password', PASSWORD);
        await run('user', 'create', 'eve', '--tenant', 'acme', '--password', PASSWORD);
        await run('user', 'unlock', 'Eve', '--tenant', 'acme');
        await run('user', 'reset-password', 'eve', '--tenant', 'acme');
        await run('token', 'create', 'eve', '--tenant', 'acme');
      });
      expect(events.map(({ action, kind }) => [action, kind])).toEqual([
        ['createTenant', 'tenant'],
        ['createUser', 'user'],
        ['unlockUser', 'user'],
        ['resetPassword', 'user'],
        ['createToken', 'user'],
      ]);
      expect(new Set(events.slice(1).map(({ resourceId }) => resourceId)).size).toBe(1);
      for (const event of events)
        expect(event).toMatchObject({
          tenant: 'acme',
          channel: 'cli',
          userId: null,
          username: expect.stringMatching(/./),
          address: null,
          outcome: 'succeeded',
        });
    } finally {
      vi.restoreAllMocks();
      vi.unstubAllEnvs();
      process.exitCode = undefined;
    }
  });
});

const kinds = Object.keys(FIXTURES).filter((kind) => !READABLE_BY_ALL.has(kind));
const TYPES: Record<string, string> = { queries: 'SavedQuery' };
const typeOf = (kind: string) => TYPES[kind] ?? kind[0]!.toUpperCase() + kind.slice(1, -1);

describe.each(kinds)('all that is done to one of the %s', (kind) => {
  const type = typeOf(kind);
  const word = kind === 'queries' ? 'query' : type[0]!.toLowerCase() + type.slice(1);

  test('is one event each, which names it by its id', async ({ admin, ann, service }) => {
    const tag = await admin.creates('/tags', { name: `audit ${kind}` });
    let id = '';
    const [made] = (
      await left(service, async () => {
        id = await FIXTURES[kind]!.create(admin, `all ${kind}`);
      })
    ).slice(-1);
    expect(made).toMatchObject({ action: `create${type}`, kind: word, resourceId: id, outcome: 'succeeded' });
    const path = `/${kind}/all-${kind}`;
    const calls: [string, () => Promise<{ status: number }>][] = [
      [`update${type}`, () => admin.put(path, { description: 'x' })],
      [`update${type}`, () => admin.put(path, {})],
      [`share${type}`, () => admin.put(`${path}/shares/ann`, { accessLevel: 1 })],
      [`tag${type}`, () => admin.put(`${path}/tags/${tag.id}`)],
      [`untag${type}`, () => admin.delete(`${path}/tags/${tag.id}`)],
      [`favorite${type}`, () => admin.put(`${path}/favorite`)],
      [`unfavorite${type}`, () => admin.delete(`${path}/favorite`)],
      [`unshare${type}`, () => admin.delete(`${path}/shares/ann`)],
      [`set${type}Owner`, () => admin.put(`${path}/owner`, { ownerId: 'ann' })],
      [`delete${type}`, () => admin.delete(path)],
    ];
    for (const [action, call] of calls) {
      const events = await left(service, async () => expect((await call()).status, action).toBeLessThan(300));
      expect(events, action).toMatchObject([
        { action, kind: word, resourceId: id, outcome: 'succeeded', channel: 'rest', userId: admin.id },
      ]);
    }
    expect(ann.username).toBe('ann');
  });

  test('is an event too when it is refused', async ({ admin, ann, service }) => {
    const id = await FIXTURES[kind]!.create(admin, `refused ${kind}`);
    await admin.put(`/${kind}/${id}/shares/ann`, { accessLevel: 1 });
    const events = await left(service, () => ann.delete(`/${kind}/${id}`));
    expect(events).toMatchObject([
      { action: `delete${type}`, kind: word, resourceId: id, outcome: 'denied', userId: ann.id, username: 'ann' },
    ]);
  });
});

describe('every mutation', () => {
  for (const field of Object.values(schema.getMutationType()!.getFields())) {
    test(`${field.name} leaves one event when it succeeds or is refused, and none otherwise`, async ({
      admin,
      service,
    }) => {
      const powerless = (people.get(service) ??
        people.set(service, service.user('powerless', { permissions: [] })).get(service))!;
      for (const client of [admin, await powerless]) {
        let outcome: string | undefined;
        const events = await left(service, async () => {
          const { errors } = await client.gql(
            documentOf(field.name, field.args, isCompositeType(getNamedType(field.type))),
          );
          const code = errors?.[0]?.extensions.code;
          outcome =
            errors === undefined
              ? 'succeeded'
              : code === 'FORBIDDEN'
                ? 'denied'
                : field.name === 'login'
                  ? 'denied'
                  : undefined;
        });
        expect(events.map(({ action, outcome: said }) => [action, said])).toEqual(
          outcome ? [[field.name, outcome]] : [],
        );
      }
    });
  }
});

const people = new Map<Service, Promise<Client>>();

/** A call with arguments of the right types that mostly name nothing. */
function documentOf(name: string, args: readonly GraphQLArgument[], composite: boolean): string {
  const needed = args.filter((argument) => String(argument.type).endsWith('!') && argument.defaultValue === undefined);
  return `mutation { ${name}${needed.length ? `(${needed.map((argument) => `${argument.name}: ${literal(argument.type)}`).join(', ')})` : ''}${composite ? ' { __typename }' : ''} }`;
}

function literal(type: GraphQLArgument['type']): string {
  const named = getNamedType(type);
  const one = isInputObjectType(named)
    ? `{ ${Object.values(named.getFields())
        .filter((field) => String(field.type).endsWith('!') && field.defaultValue === undefined)
        .map((field) => `${field.name}: ${literal(field.type)}`)
        .join(', ')} }`
    : 'getValues' in named
      ? named.getValues()[0]!.name
      : ({
          Int: '1',
          Float: '1',
          Boolean: 'true',
          JSONObject: '{}',
          JSON: '1',
          DateTime: '"2026-01-01T00:00:00.000Z"',
          ID: JSON.stringify(UNKNOWN),
        }[named.name] ?? '"somebody"');
  return isListType('ofType' in type ? type.ofType : type) || isListType(type) ? `[${one}]` : one;
}

describe('the audit log', () => {
  test('is for superusers, each for their tenant, the latest first, by pages', async ({
    admin,
    ann,
    stranger,
    anonymous,
  }) => {
    const { id } = await admin.creates('/reports', { name: 'Listed' });
    await admin.put(`/reports/${id}`, { description: 'x' });
    await admin.data(`mutation { deleteReport(id: "${id}") }`);
    for (const path of ['/audit', '/audit/export']) {
      expect(await ann.get(path)).toMatchObject({
        status: 403,
        body: { message: 'You lack the permission tenant:superuser' },
      });
      expect(await anonymous.get(path)).toMatchObject({ status: 401 });
    }
    const { body } = await admin.get(`/audit?resourceId=${id}&limit=2`);
    expect(body).toMatchObject({
      count: 2,
      total: 3,
      _links: { next: { href: `/api/audit?resourceId=${id}&limit=2&start=2` } },
    });
    expect(body._embedded['svc:audit-event'][0]).toEqual({
      id: expect.any(String),
      createdAt: expect.stringMatching(/Z$/),
      userId: admin.id,
      username: 'admin',
      action: 'deleteReport',
      kind: 'report',
      resourceId: id,
      outcome: 'succeeded',
      channel: 'graphql',
      address: '127.0.0.1',
      tokenId: expect.any(String),
      sessionId: null,
      requestId: expect.any(String),
      _links: { 'svc:user': { href: `/api/users/${admin.id}` } },
    });
    expect(
      await admin.data(
        `{ auditEvents(resourceId: "${id}", channel: REST) { total items { action outcome channel } } }`,
      ),
    ).toEqual({
      auditEvents: {
        total: 2,
        items: [
          { action: 'updateReport', outcome: 'SUCCEEDED', channel: 'REST' },
          { action: 'createReport', outcome: 'SUCCEEDED', channel: 'REST' },
        ],
      },
    });
    expect((await stranger.get(`/audit?resourceId=${id}`)).body.total).toBe(0);
    expect((await stranger.get('/audit/export')).body).not.toContain(id);
  });

  test('is searched by who, what, outcome, channel and time', async ({ admin, ann }) => {
    const since = new Date().toISOString();
    const { id } = await ann.creates('/reports', { name: 'Searched' });
    await ann.put('/users/admin', { displayName: 'x' });
    const until = new Date(Date.now() + 1).toISOString();
    const actions = async (query: string) =>
      (await admin.get(`/audit?from=${since}&to=${until}&${query}`)).body._embedded['svc:audit-event'].map(
        ({ action }: Event) => action,
      );
    expect(await actions(`userId=${ann.id}`)).toEqual(['updateUser', 'createReport']);
    expect(await actions(`userId=${admin.id}`)).toEqual([]);
    expect(await actions('outcome=denied')).toEqual(['updateUser']);
    expect(await actions(`kind=report&action=createReport&channel=rest&resourceId=${id}`)).toEqual(['createReport']);
    expect(await actions('userId=nobody')).toEqual([]);
    expect((await admin.get(`/audit?to=${since}&resourceId=${id}`)).body.total).toBe(0);
    for (const query of ['channel=latin', 'from=yesterday', 'sort=address'])
      expect(await admin.get(`/audit?${query}`)).toMatchObject({ status: 400 });
  });

  test('is exported whole, a batch after the other, in its order, what came at one moment included', async ({
    admin,
    service,
  }) => {
    const [row] = await service.platform.system.query<{ id: string }>({
      text: `select id from dws.tenant where slug = 'default'`,
    });
    await service.platform.system.query({
      text: `insert into dws.audit_event (id, tenant_id, username, action, outcome, channel, request_id, created_at)
      select gen_random_uuid(), $1, 'many, "quoted"', 'exported', 'succeeded', 'rest', n::text, timestamptz '2026-01-01' + n / 700 * interval '1 microsecond' from generate_series(0, 2499) n`,
      values: [row!.id],
    });
    const ndjson = await admin.get('/audit/export?action=exported');
    expect([ndjson.headers.get('content-type'), ndjson.headers.get('content-disposition')]).toEqual([
      'application/x-ndjson; charset=utf-8',
      'attachment; filename="audit.ndjson"',
    ]);
    const lines = String(ndjson.body)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Event);
    expect(new Set(lines.map(({ requestId }) => requestId)).size).toBe(2500);
    const moments = lines.map(({ requestId }) => Math.floor(Number(requestId) / 700));
    expect(moments).toEqual(moments.toSorted((a, b) => b - a));
    expect(lines[0]).toMatchObject({ username: 'many, "quoted"', outcome: 'succeeded', channel: 'rest', userId: null });

    const csv = String((await admin.get('/audit/export?format=csv&action=exported')).body)
      .trimEnd()
      .split('\r\n');
    expect(csv[0]).toBe(
      'createdAt,id,userId,username,action,kind,resourceId,outcome,channel,address,tokenId,sessionId,requestId',
    );
    expect(csv[1]).toMatch(
      /^2026-01-01T00:00:00.000Z,[0-9a-f-]{36},,"many, ""quoted""",exported,,,succeeded,rest,,,,\d+$/,
    );
    expect(csv.length).toBe(2501);
    expect(await admin.get('/audit/export?format=pdf')).toMatchObject({ status: 400 });
  });
});
