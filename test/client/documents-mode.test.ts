import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { Client, type ApiResponse } from '../support/client.ts';
import { expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { startService, type Service } from '../support/service.ts';
import { recordStatements } from '../support/statement-log.ts';
import { systemQuery } from '../support/system-query.ts';
import { withService } from '../support/upload-form.ts';
import { runOnSocket as runAt } from './run-on-socket.ts';

const ME = 'query Me { me { username } }';
const OTHER = 'query Other { me { id } }';
const APQ = 'query Registered { me { id } }';
const SCHEMA = '{ __schema { queryType { name } } }';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const apq = (hash: string) => ({ persistedQuery: { version: 1, sha256Hash: hash } });
const NOT_STORED = 'The client may run only documents that are stored for it';
const WARNING = {
  code: 'DOCUMENT_NOT_STORED',
  message: 'The document is not stored for the client, which will be refused in the mode ENFORCE',
};

/** Returns a client with a token of ann that names a client of this mode, which has one document. */
async function createClient(service: Service, admin: Client, name: string, mode: string): Promise<Client> {
  await admin.creates(`/clients/${name}/documents`, { me: ME });
  await expectStatus(admin.put(`/clients/${name}`, { mode }), 200);
  const { token } = await (await service.login('ann')).creates('/tokens', { name, client: name });
  return new Client(service.url, { authorization: `Bearer ${token}` });
}

const post = (client: Client, body: object): Promise<ApiResponse> => client.request('POST', '/graphql', body);
const get = (client: Client, parameters: Record<string, string>): Promise<ApiResponse> =>
  client.request('GET', `/graphql?${new URLSearchParams(parameters)}`, undefined, { 'graphql-require-preflight': '1' });

const runOnSocket = (client: Client, payload: object): Promise<any> => runAt(client.url, client.headers, payload);

const ran = { data: { me: { username: 'ann' } } };

describe('a document is named by its id', () => {
  test('over POST, GET and sockets, and by Apollo’s persisted queries', async ({ service, admin, ann }) => {
    expect(ann.username).toBe('ann');
    const client = await createClient(service, admin, 'named', 'OFF');
    for (const id of ['me', sha256(ME), `sha256:${sha256(ME)}`]) {
      expect((await post(client, { documentId: id })).body).toMatchObject(ran);
      expect((await post(client, { extensions: apq(id) })).body).toMatchObject(ran);
      expect((await get(client, { documentId: id })).body).toMatchObject(ran);
      expect((await get(client, { extensions: JSON.stringify(apq(id)) })).body).toMatchObject(ran);
      expect(await runOnSocket(client, { query: '', documentId: id })).toEqual(ran);
      expect(await runOnSocket(client, { query: '', extensions: apq(id) })).toEqual(ran);
    }
    expect((await post(ann, { documentId: sha256(ME) })).body).toMatchObject(ran);
  });

  test('and an unknown id is PERSISTED_QUERY_NOT_FOUND', async ({ service, admin, ann, stranger, anonymous }) => {
    const client = await createClient(service, admin, 'unknown', 'OFF');
    const unknown = {
      errors: [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
    };
    for (const one of [client, ann]) {
      expect(await post(one, { documentId: 'none' })).toMatchObject({ status: 200, body: unknown });
      expect((await get(one, { documentId: 'none' })).body).toMatchObject(unknown);
      expect((await post(one, { extensions: apq('none') })).body).toMatchObject(unknown);
      expect(await runOnSocket(one, { query: '', documentId: 'none' })).toMatchObject(unknown.errors);
    }
    // Other tenants have other documents, and a caller without credentials has none.
    expect((await post(stranger, { documentId: sha256(ME) })).body).toMatchObject(unknown);
    await expectStatus(post(anonymous, { documentId: sha256(ME) }), 401);
    await expectError(await asRest(post(client, { documentId: 1 })), 400, 'documentId must be a text');
    await expectError(await asRest(post(client, { documentId: 'me', query: ME })), 400, /exclude each other/);
  });

  test('and not, if clients have different texts under the id of a caller without a client', async ({ admin, ann }) => {
    await admin.creates('/clients/one/documents', { shared: ME, ambiguous: ME });
    await admin.creates('/clients/two/documents', { shared: ME, ambiguous: OTHER });
    expect((await post(ann, { documentId: 'shared' })).body).toMatchObject(ran);
    expect((await post(ann, { documentId: 'ambiguous' })).body.errors).toMatchObject([
      { message: 'PersistedQueryNotFound' },
    ]);
  });
});

/** Returns an error of GraphQL like one of REST. */
async function asRest(response: Promise<ApiResponse>): Promise<ApiResponse> {
  const { status, headers, body } = await response;
  return { status, headers, body: body.errors[0] };
}

describe('the mode ENFORCE', () => {
  test('permits stored documents only, with or without their ids', async ({ service, admin }) => {
    const client = (await createClient(service, admin, 'strict', 'ENFORCE')).with({
      'apollographql-client-name': 'named',
    });
    for (const run of [post, get]) {
      expect((await run(client, { query: ME })).body).toMatchObject(ran);
      expect((await run(client, { documentId: 'me' })).body).toMatchObject(ran);
      for (const query of [OTHER, `${ME} `, SCHEMA, '{ _service { sdl } }', '{', ''])
        expect(await asRest(run(client, { query })), query).toMatchObject({
          status: 403,
          body: { message: NOT_STORED, extensions: { code: 'FORBIDDEN', status: 403 } },
        });
    }
    expect(await runOnSocket(client, { query: ME })).toEqual(ran);
    for (const query of [OTHER, SCHEMA, '', 'subscription { progress(id: "x") { status } }'])
      expect(await runOnSocket(client, { query }), query).toMatchObject([
        { message: NOT_STORED, extensions: { code: 'FORBIDDEN' } },
      ]);
    await expectStatus(client.get('/me'), 200);
  });

  test('refuses the registration of persisted queries, and those that others have registered', async ({
    service,
    admin,
    ann,
  }) => {
    const client = await createClient(service, admin, 'registering', 'ENFORCE');
    const registered = { query: APQ, extensions: apq(sha256(APQ)) };
    await expectError(await asRest(post(client, registered)), 403, NOT_STORED);
    const byHash = { extensions: apq(sha256(APQ)) };
    expect((await post(ann, byHash)).body.errors).toMatchObject([{ message: 'PersistedQueryNotFound' }]);
    expect((await post(ann, registered)).body).toMatchObject({ data: { me: { id: ann.id } } });
    expect((await post(ann, byHash)).body).toMatchObject({ data: { me: { id: ann.id } } });
    expect((await post(client, byHash)).body.errors).toMatchObject([{ message: 'PersistedQueryNotFound' }]);
    expect((await post(client, { query: ME, extensions: apq(sha256(ME)) })).body).toMatchObject(ran);
  });

  test('refuses introspection, even if it is stored', async ({ service, admin }) => {
    const client = await createClient(service, admin, 'reading', 'ENFORCE');
    await admin.creates('/clients/reading/documents', { schema: SCHEMA });
    for (const body of [{ documentId: 'schema' }, { query: SCHEMA }])
      await expectError(await asRest(post(client, body)), 403, 'The client may not read the schema');
    await admin.put('/clients/reading', { mode: 'WARN' });
    expect((await post(client, { documentId: 'schema' })).body.data.__schema).toBeTruthy();
  });

  test('holds from the change of a client on, in all processes', async ({ service, admin }) => {
    const client = await createClient(service, admin, 'changing', 'ENFORCE');
    const second = await startService({}, { databaseUrl: service.databaseUrl });
    try {
      const there = new Client(second.url, client.headers);
      for (const one of [client, there]) await expectStatus(post(one, { query: OTHER }), 403);
      await admin.creates('/clients/changing/documents', { other: OTHER });
      await expectStatus(post(client, { query: OTHER }), 200);
      await expect.poll(async () => (await post(there, { query: OTHER })).status).toBe(200);
      await expectStatus(admin.delete('/clients/changing/documents/other'), 204);
      await expectStatus(post(client, { query: OTHER }), 403);
      await expect.poll(async () => (await post(there, { query: OTHER })).status).toBe(403);
      await expectStatus(admin.delete('/clients/changing'), 204);
      await expectStatus(post(client, { query: OTHER }), 200);
    } finally {
      await second.close();
    }
  });

  test('takes no query of the database for each request', async ({ service, admin }) => {
    const client = await createClient(service, admin, 'hot', 'ENFORCE');
    const run = () => Promise.all([post(client, { query: ME }), post(client, { documentId: 'none' })]);
    await run();
    const { statements } = await recordStatements(service, run);
    expect(statements.map(({ text }) => text).filter((text) => text.includes('client'))).toEqual([]);
    expect(statements).toHaveLength(1);
  });
});

describe('a document that is not stored', () => {
  test('runs with a warning in the mode WARN, over HTTP and sockets', async ({ service, admin }) => {
    const client = await createClient(service, admin, 'warned', 'WARN');
    for (const run of [post, get]) {
      expect((await run(client, { query: OTHER })).body.extensions).toMatchObject({ cost: 1, warnings: [WARNING] });
      expect((await run(client, { query: '{ unknown }' })).body).toMatchObject({
        errors: [{}],
        extensions: { warnings: [WARNING] },
      });
      expect((await run(client, { query: ME })).body.extensions).toEqual({ cost: 1 });
    }
    expect((await runOnSocket(client, { query: OTHER })).extensions).toEqual({ warnings: [WARNING] });
    expect(await runOnSocket(client, { query: ME })).toEqual(ran);
  });

  test('is logged once in the modes LOG and WARN', async () => {
    const lines: any[] = [];
    const log = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const service = await startService({ LOG_LEVEL: 'info', DOCUMENTS_MODE: 'WARN' }, { log });
    try {
      const admin = await service.user('admin', { superuser: true });
      await service.user('ann');
      const client = await createClient(service, admin, 'logged', 'LOG');
      const session = await service.login('ann');
      for (const one of [client, client, session, session]) await post(one, { query: OTHER });
      expect((await post(client, { query: OTHER })).body.extensions).toEqual({ cost: 1 });
      expect((await post(session, { query: OTHER })).body.extensions.warnings).toEqual([WARNING]);
      const found = lines.filter(({ msg }) => msg === 'A document that is not stored ran');
      expect(found).toMatchObject([
        { tenant: 'default', client: 'logged', sha256: sha256(OTHER) },
        { tenant: 'default', client: null, sha256: sha256(OTHER) },
      ]);
    } finally {
      await service.close();
    }
  });
});

test('the mode of sessions is DOCUMENTS_MODE, with the documents of all clients', async () => {
  await withService({ DOCUMENTS_MODE: 'ENFORCE' }, async (service) => {
    const admin = await service.user('admin', { superuser: true });
    const ann = await service.user('ann');
    await admin.creates('/clients/web/documents', { me: ME });
    const session = await service.login('ann');
    expect((await post(session, { query: ME })).body).toMatchObject(ran);
    await expectGraphqlError(session.gql(OTHER), 'FORBIDDEN', NOT_STORED);
    // Tokens without a client, and callers without credentials, are not concerned.
    expect((await post(ann, { query: OTHER })).body).toMatchObject({ data: { me: { id: ann.id } } });
    await expectStatus(post(new Client(service.url), { query: SCHEMA }), 200);
  });
});

test('a document has the times of its first and last request', async () => {
  await withService({}, async (service) => {
    const admin = await service.user('admin', { superuser: true });
    await service.user('ann');
    const client = await createClient(service, admin, 'seen', 'OFF');
    await post(client, { documentId: 'me' });
    await service.app.close();
    const [row] = await systemQuery(
      service,
      `select first_seen_at = last_seen_at as same, last_seen_at > now() - interval '1 minute' as now
       from dws.client_document where document_id = 'me'`,
    );
    expect(row).toEqual({ same: true, now: true });
  });
});

describe('server-sent events and QUERY', () => {
  const SUBSCRIPTION = 'subscription Notified { notifications { id } }';
  const send = (client: Client, method: string, body: object, accept = 'application/json') =>
    client.request(method, '/graphql', body, { accept });

  test('obey the mode of the client, and count', async () => {
    await withService({}, async (service) => {
      const admin = await service.user('admin', { superuser: true });
      await service.user('ann');
      const client = await createClient(service, admin, 'events', 'ENFORCE');
      const events = 'text/event-stream';
      for (const body of [{ query: ME }, { documentId: 'me' }]) {
        expect((await send(client, 'QUERY', body)).body).toMatchObject(ran);
        const { headers, body: text } = await send(client, 'POST', body, events);
        expect(headers.get('content-type')).toMatch(/^text\/event-stream/);
        expect(text).toContain('"username":"ann"');
      }
      for (const query of [OTHER, SUBSCRIPTION])
        for (const [method, accept] of [
          ['QUERY', 'application/json'],
          ['POST', events],
          ['QUERY', events],
        ] as const)
          await expectError(await asRest(send(client, method, { query }, accept)), 403, NOT_STORED);
      await admin.put('/clients/events', { mode: 'WARN' });
      const { body: warned } = await send(client, 'POST', { query: OTHER }, events);
      expect(JSON.parse(/^data: (.*)$/m.exec(warned)![1]!)).toMatchObject({ extensions: { warnings: [WARNING] } });
      await service.app.close();
      const counted = await systemQuery(
        service,
        'select sum(requests)::int as requests from dws.field_usage where document = $1',
        sha256(ME),
      );
      expect(counted).toEqual([{ requests: 4 }]);
    });
  });
});
