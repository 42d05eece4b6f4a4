import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';

const ME = 'query Me { me { username } }';
const TAGS = 'query Tags { tags { items { name } } }';
const digest = (algorithm: string, text: string): string => createHash(algorithm).update(text).digest('hex');
const sha256 = (text: string): string => digest('sha256', text);
const md5 = (text: string): string => digest('md5', text);

const apolloManifest = (...texts: string[]) => ({
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: texts.map((body) => ({ id: sha256(body), name: 'Any', type: 'query', body })),
});
const UPLOAD = `mutation ($name: String!, $manifest: JSONObject!) {
  uploadClientDocuments(name: $name, manifest: $manifest) { added unchanged }
}`;
const READ = `query ($name: String!) {
  apiClient(name: $name) { name mode documents { total items { id documentId sha256 name text client { name } } } }
}`;

describe('a manifest', () => {
  test('of Apollo is stored in both APIs, once', async ({ admin }) => {
    await expectBody(admin.post('/clients/web/documents', apolloManifest(ME, TAGS)), 200, { added: 2, unchanged: 0 });
    expect(await admin.data(UPLOAD, { name: 'web', manifest: apolloManifest(ME) })).toEqual({
      uploadClientDocuments: { added: 0, unchanged: 1 },
    });
    const { apiClient } = await admin.data(READ, { name: 'web' });
    expect(apiClient).toMatchObject({ name: 'web', mode: 'OFF', documents: { total: 2 } });
    const me = apiClient.documents.items.find((one: { name: string }) => one.name === 'Me');
    expect(me).toMatchObject({ documentId: sha256(ME), sha256: sha256(ME), text: ME, client: { name: 'web' } });
    const { body } = await admin.get('/clients/web/documents');
    expect(body.total).toBe(2);
    const listed = body._embedded['svc:client-document'].find((one: { name: string }) => one.name === 'Me');
    expect(listed).toMatchObject({ id: me.id, documentId: sha256(ME), firstSeenAt: null, lastSeenAt: null });
    for (const id of [me.id, sha256(ME)])
      await expectBody(admin.get(`/clients/web/documents/${id}`), 200, { id: me.id, text: ME });
    expect(await admin.data(`{ node(id: "${me.id}") { ... on ClientDocument { text } } }`)).toEqual({
      node: { text: ME },
    });
  });

  test('of Relay and of GraphQL code generator is an object with the texts', async ({ admin }) => {
    await expectBody(admin.post('/clients/relay/documents', { [md5(ME)]: ME, [md5(TAGS)]: TAGS }), 200, { added: 2 });
    const sha1 = digest('sha1', ME);
    const manifest = { [sha1]: ME, [`sha256:${sha256(TAGS)}`]: TAGS };
    await expectBody(admin.post('/clients/codegen/documents', manifest), 200, { added: 2 });
    await expectBody(admin.get(`/clients/codegen/documents/${sha1}`), 200, { sha256: sha256(ME), name: 'Me' });
  });

  test('is refused as a whole, with the index of the first document that does not fit', async ({ admin }) => {
    const upload = (manifest: object) => admin.post('/clients/refused/documents', manifest);
    const cases: [object, RegExp][] = [
      [apolloManifest(ME, '{ unknown }'), /^Document 1 .*Cannot query field "unknown"/],
      [apolloManifest(ME, '{ me {'), /^Document 1 .*does not parse: Syntax Error/],
      [apolloManifest('fragment F on User { id }'), /^Document 0 .*Fragment "F" is never used/],
      [{ [sha256(ME)]: TAGS }, /^Document 0 .*is not the text with this sha256/],
      [{ a: ME, [md5(ME)]: TAGS }, /^Document 1 .*is not the text with this md5/],
      [{ a: ME, b: 1 }, /^Document 1 \("b"\) is not a text/],
      [{ a: `# ${'x'.repeat(100_000)}\n${ME}` }, /^Document 0 .*has more than 100000 bytes/],
      [{ ...apolloManifest(ME), version: 2 }, /^A manifest with operations must have/],
      [{ ...apolloManifest(), operations: [{ body: ME }] }, /^Document 0 .*has no id/],
    ];
    for (const [manifest, message] of cases) await expectError(upload(manifest), 400, message);
    await expectGraphqlError(
      admin.gql(UPLOAD, { name: 'refused', manifest: { a: ME, b: '{ unknown }' } }),
      'BAD_USER_INPUT',
      /^Document 1 /,
    );
    await expectStatus(admin.get('/clients/refused'), 404);
    const { body } = await upload(apolloManifest(ME, '{ unknown }'));
    expect(body.validation).toMatchObject([{ path: ['operations', 1, 'body'] }]);
  });

  test('with a known id and another text is 409', async ({ admin }) => {
    await admin.creates('/clients/clash/documents', { me: ME });
    await expectError(admin.post('/clients/clash/documents', { tags: TAGS, me: TAGS }), 409, /another text .*"me"/);
    await expectBody(admin.get('/clients/clash/documents'), 200, { total: 1 });
  });

  test('has at most 10,000 documents of a client', async ({ admin }) => {
    const manifest = Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [`id${n}`, `{ me { id } } # ${n}`]));
    await expectError(admin.post('/clients/many/documents', manifest), 400, /at most 10000 documents/);
  });
});

describe('a client', () => {
  test('has a mode, which creates it, and is deleted with its documents', async ({ admin }) => {
    const created = await admin.put('/clients/mobile', { mode: 'WARN' });
    expect(created).toMatchObject({ status: 200, body: { name: 'mobile', mode: 'WARN' } });
    expect(await admin.data('mutation { setClientMode(name: "mobile", mode: LOG) { mode } }')).toEqual({
      setClientMode: { mode: 'LOG' },
    });
    await expectStatus(
      admin.put('/clients/mobile', { mode: 'OFF' }, { 'if-match': created.headers.get('etag')! }),
      412,
    );
    await expectStatus(admin.put('/clients/mobile', { mode: 'off' }), 400);
    await expectStatus(admin.put('/clients/a%20b', { mode: 'OFF' }), 400);
    await admin.creates('/clients/mobile/documents', { me: ME });
    await expectStatus(admin.delete('/clients/mobile/documents/me'), 204);
    await expectStatus(admin.delete('/clients/mobile/documents/me'), 404);
    const names = (await admin.get('/clients')).body._embedded['svc:client'].map((one: any) => one.name);
    expect(names).toContain('mobile');
    expect(await admin.data('mutation { deleteClient(name: "mobile") }')).toEqual({ deleteClient: 'mobile' });
    await expectStatus(admin.delete('/clients/mobile'), 404);
  });

  test('is for superusers of its tenant, and for their tokens with the scope documents', async ({
    service,
    admin,
    ann,
    stranger,
  }) => {
    await admin.creates('/clients/own/documents', { me: ME });
    await expectStatus(stranger.get('/clients/own'), 404);
    const refusal = 'You lack the permission tenant:superuser';
    await expectError(ann.get('/clients'), 403, refusal);
    await expectError(ann.post('/clients/own/documents', {}), 403, refusal);
    await expectError(ann.put('/clients/own', { mode: 'OFF' }), 403, refusal);
    await expectError(ann.delete('/clients/own'), 403, refusal);

    const session = await service.login('admin');
    const { token } = await session.creates('/tokens', { name: 'ci', scopes: ['documents'] });
    const ci = new Client(service.url, { authorization: `Bearer ${token}` });
    await expectBody(ci.post('/clients/own/documents', { tags: TAGS }), 200, { added: 1 });
    await expectBody(ci.get('/clients/own'), 200, { name: 'own' });
    await expectStatus(ci.put('/clients/own', { mode: 'LOG' }), 200);
    await expectError(ci.get('/tags'), 403, 'This token lacks the scope read');
    await expectError(ci.post('/tags', { name: 'x' }), 403, 'This token lacks the scope write');
    const reader = await session.creates('/tokens', { name: 'reader', scopes: ['read'] });
    const readOnly = new Client(service.url, { authorization: `Bearer ${reader.token}` });
    await expectStatus(readOnly.get('/clients/own'), 200);
    await expectError(readOnly.put('/clients/own', { mode: 'OFF' }), 403, 'This token lacks the scope write');
    const ofAnn = await service.login('ann');
    await expectError(ofAnn.post('/tokens', { name: 'ci', scopes: ['documents'] }), 403, /Only superusers/);
  });
});

test('a token names its client from its creation on', async ({ service, ann }) => {
  const session = await service.login(ann.username);
  const { client, id } = await session.creates('/tokens', { name: 'web', client: 'web' });
  expect(client).toBe('web');
  const { createToken } = await session.data(
    'mutation { createToken(input: { name: "app", client: "mobile" }) { client } }',
  );
  expect(createToken).toEqual({ client: 'mobile' });
  const { tokens } = await session.data('{ tokens { id client } }');
  expect(tokens).toContainEqual({ id, client: 'web' });
  await expectStatus(session.post('/tokens', { name: 'bad', client: 'a b' }), 400);
});
