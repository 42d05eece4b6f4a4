import { describe, expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { connect, createIntegration, createLibrary, GOOGLE } from './library-fixture.ts';

const LIST = '/integrations';

/** Every field that a test reads by GraphQL. */
const FIELDS = `id name type embedded libraryId creatorId authType clientId authUri tokenUri revokeUri apiUri contentUri
  scope permissions { read edit delete }`;

/** Addresses of a provider of one's own. */
const OWN = { authUri: 'https://drive.example/auth', apiUri: 'http://127.0.0.1:9/v3/' };

const sealedOf = async (service: Service, id: string): Promise<unknown> =>
  (await systemQuery(service, `select sealed_client_secret as sealed from dws.integration where id = $1`, id))[0];

describe('an integration', () => {
  test('has the addresses and the scope of its type, and its secret is in no response', async ({ ann, bob }) => {
    const created = await ann.post(LIST, { ...GOOGLE, clientSecret: 'very private' });
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect(created.headers.get('location')).toBe(`/api/integrations/${id}`);
    const expected = {
      id,
      name: 'Drive',
      type: 'google-drive',
      embedded: false,
      libraryId: null,
      creatorId: ann.id,
      authType: 'oauth2',
      clientId: 'workspace',
      authUri: 'https://accounts.google.com/o/oauth2/v2/auth',
      tokenUri: 'https://oauth2.googleapis.com/token',
      revokeUri: 'https://oauth2.googleapis.com/revoke',
      apiUri: 'https://www.googleapis.com/drive/v3',
      contentUri: null,
      permissions: { read: true, edit: true, delete: true },
    };
    expect(created.body).toMatchObject({ ...expected, scope: expect.stringContaining('drive.readonly') });
    const readOnly = { read: true, edit: false, delete: false };
    await expectBody(bob.get(`${LIST}/${id}`), 200, { ...expected, permissions: readOnly });
    const { integration, integrations } = await bob.data(
      `{ integration(id: "${id}") { ${FIELDS} creator { username } } integrations(q: "Drive") { items { id } } }`,
    );
    expect(integration).toMatchObject({ ...expected, permissions: readOnly, creator: { username: 'ann' } });
    expect(integrations.items).toContainEqual({ id });
    const pages = [created, await ann.get(LIST), await ann.get(`${LIST}/${id}`)];
    expect(JSON.stringify(pages)).not.toMatch(/very private|secret/i);
  });

  test('is created, changed and deleted in GraphQL like in REST', async ({ ann }) => {
    const { createIntegration: created } = await ann.data(
      `mutation ($input: CreateIntegrationInput!) { createIntegration(input: $input) { ${FIELDS} } }`,
      { input: { ...GOOGLE, type: 'box' } },
    );
    expect(created).toMatchObject({ type: 'box', tokenUri: expect.stringContaining('box.com') });
    const { updateIntegration } = await ann.data(
      `mutation { updateIntegration(id: "${created.id}", input: { name: "Renamed", scope: "a b" }) { ${FIELDS} } }`,
    );
    expect(updateIntegration).toEqual({ ...created, name: 'Renamed', scope: 'a b' });
    const record = (await ann.get(`${LIST}/${created.id}`)).body;
    await expectBody(ann.put(`${LIST}/${created.id}`, { ...record, name: 'Again' }), 200, {
      name: 'Again',
      scope: 'a b',
    });
    expect(await ann.data(`mutation { deleteIntegration(id: "${created.id}") }`)).toEqual({
      deleteIntegration: created.id,
    });
    await expectError(ann.get(`${LIST}/${created.id}`), 404, `There is no integration ${created.id}`);
    await expectStatus(ann.delete(`${LIST}/${created.id}`), 404);
  });

  test('is created by users who may create libraries, and changed by its creator and superusers alone', async ({
    service,
    ann,
    bob,
    admin,
    anonymous,
    stranger,
  }) => {
    const guest = await service.user('guest', { permissions: [] });
    await expectStatus(anonymous.post(LIST, GOOGLE), 401);
    await expectError(guest.post(LIST, GOOGLE), 403, 'You lack the permission libraries:create');
    const { id, path } = await createIntegration(ann);
    await expectError(bob.put(path, { name: 'Mine' }), 403, 'You lack the permission integration:edit');
    await expectError(bob.delete(path), 403, 'You lack the permission integration:delete');
    for (const method of ['get', 'delete'] as const)
      await expectError(stranger[method](path), 404, `There is no integration ${id}`);
    await expectBody(admin.put(path, { name: 'Theirs' }), 200, { name: 'Theirs' });
    const { headers } = await ann.get(path);
    await expectStatus(ann.put(path, { name: 'A' }, { 'if-match': headers.get('etag')! }), 200);
    await expectStatus(ann.put(path, { name: 'B' }, { 'if-match': headers.get('etag')! }), 412);
    await expectStatus(ann.delete(path), 204);
  });

  test('gets addresses other than its type’s only by a superuser', async ({ ann, admin }) => {
    for (const [key, value] of Object.entries(OWN))
      await expectError(
        ann.post(LIST, { ...GOOGLE, [key]: value }),
        403,
        `Only superusers may set ${key} to an address other than the default of the type`,
      );
    const { path } = await createIntegration(ann);
    await expectError(ann.put(path, { revokeUri: 'https://drive.example/revoke' }), 403, /may set revokeUri/);
    await expectBody(admin.put(path, OWN), 200, { ...OWN, apiUri: 'http://127.0.0.1:9/v3' });
    const record = (await ann.get(path)).body;
    await expectBody(ann.put(path, { ...record, name: 'Kept' }), 200, { name: 'Kept', authUri: OWN.authUri });
    await expectBody(ann.put(path, { authUri: null }), 200, {
      authUri: 'https://accounts.google.com/o/oauth2/v2/auth',
      apiUri: 'http://127.0.0.1:9/v3',
    });
    await expectError(ann.put(path, { authUri: OWN.authUri }), 403, /may set authUri/);
    for (const uri of ['ftp://drive.example', 'drive.example', 'https://a@drive.example', 'https://drive.example?q'])
      await expectInvalid(admin.put(path, { tokenUri: uri }), 'tokenUri', /^tokenUri must be an https: URL/);
    await expectInvalid(admin.put(path, { tokenUri: 'https://[' }), 'tokenUri', /^tokenUri must be an https: URL/);
  });

  test('gets the addresses of another type, even if its whole record is sent back', async ({ ann }) => {
    const { path } = await createIntegration(ann);
    const record = (await ann.get(path)).body;
    await expectBody(ann.put(path, { ...record, type: 'onedrive' }), 200, {
      type: 'onedrive',
      tokenUri: expect.stringContaining('login.microsoftonline.com'),
      revokeUri: null,
      scope: expect.stringContaining('Files.Read'),
    });
    await expectInvalid(
      ann.put(path, { type: 'floppy' }),
      'type',
      'type must be one of google-drive, dropbox, onedrive, box',
    );
    await expectInvalid(ann.post(LIST, { ...GOOGLE, type: 'floppy' }), 'type', /must be one of google-drive/);
    await expectInvalid(ann.put(path, { scope: ' a' }), 'scope', /must be a list of scopes/);
    await expectError(ann.put(path, { embedded: true }), 400, /embedded/);
  });

  test('needs its secret again when the client, the type or an address changes', async ({ service, admin }) => {
    const { id, path } = await createIntegration(admin, { clientSecret: 'private' });
    const changes = [{ clientId: 'other' }, { type: 'box' }, { tokenUri: 'https://drive.example/token' }];
    for (const change of changes)
      await expectInvalid(
        admin.put(path, change),
        'clientSecret',
        'clientSecret is required when the type, the client or an address changes',
      );
    const before = await sealedOf(service, id);
    await expectStatus(admin.put(path, { name: 'Renamed', scope: 'all' }), 200);
    expect(await sealedOf(service, id)).toEqual(before);
    await expectStatus(admin.put(path, { clientId: 'other', clientSecret: 'new' }), 200);
    expect(await sealedOf(service, id)).not.toEqual(before);
    await expectStatus(admin.put(path, { clientSecret: null }), 200);
    expect(await sealedOf(service, id)).toEqual({ sealed: null });
    for (const change of changes) await expectStatus(admin.put(path, change), 200);
  });

  test('ends the connections of its libraries when the client changes, and not when its name does', async ({
    service,
    admin,
  }) => {
    const { id, path } = await createIntegration(admin);
    const libraries = [];
    for (const name of ['One', 'Two']) libraries.push(await createLibrary(admin, { name, integrationId: id }));
    for (const library of libraries) await connect(service, admin, library.id, id);
    await expectStatus(admin.put(path, { name: 'Renamed' }), 200);
    for (const library of libraries) await expectBody(admin.get(library.path), 200, { connectionStatus: 'connected' });
    await expectStatus(admin.put(path, { clientId: 'other' }), 200);
    for (const library of libraries) await expectBody(admin.get(library.path), 200, { connectionStatus: null });
  });

  test('is not deleted while libraries use it, which the error names', async ({ ann, bob }) => {
    const { id, path } = await createIntegration(ann);
    const mine = await createLibrary(ann, { name: 'Contracts', integrationId: id });
    const theirs = await createLibrary(bob, { name: 'Hidden', integrationId: id });
    await expectError(ann.delete(path), 409, 'The integration is in use by library "Contracts", 1 more');
    const { integration } = await ann.data(`{ integration(id: "${id}") { libraries { total items { name } } } }`);
    expect(integration).toEqual({ libraries: { total: 1, items: [{ name: 'Contracts' }] } });
    await expectStatus(ann.put(mine.path, { integrationId: null }), 200);
    await expectStatus(bob.delete(theirs.path), 204);
    await expectStatus(ann.delete(path), 204);
  });
});

describe('an embedded integration', () => {
  test('belongs to one library alone, and is unknown to all who cannot read it', async ({ ann, bob, admin }) => {
    const library = await createLibrary(ann);
    const other = await createLibrary(ann);
    const { id, path } = await createIntegration(ann, { libraryId: library.id });
    await expectBody(ann.get(path), 200, { embedded: true, libraryId: library.id });
    await expectBody(ann.get(`${library.path}/integration`), 200, { id, libraryId: library.id });
    const { path: second } = await createIntegration(ann, { libraryId: library.id });
    await expectBody(ann.get(`${library.path}/integration`), 200, { id });
    await expectStatus(ann.delete(second), 204);
    for (const response of [bob.get(path), bob.put(path, { name: 'N' }), bob.delete(path)])
      await expectError(response, 404, `There is no integration ${id}`);
    await expectError(bob.put(`${(await createLibrary(bob)).path}/integration`, { integrationId: id }), 404);
    await expectError(
      ann.put(`${other.path}/integration`, { integrationId: id }),
      404,
      `There is no integration ${id}`,
    );
    await expectError(ann.post('/libraries', { name: 'New', integrationId: id }), 404, `There is no integration ${id}`);
    await expectBody(ann.put(`${library.path}/integration`, { integrationId: id }), 200, { id, libraryId: library.id });
    const { integrations } = await bob.data('{ integrations(limit: 1000) { items { id } } }');
    expect(integrations.items).not.toContainEqual({ id });
    expect((await bob.get('/search?q=drive&kinds=integration')).body._embedded['svc:hit']).not.toContainEqual(
      expect.objectContaining({ id }),
    );
    await expectStatus(ann.put(`${library.path}/shares/${bob.id}`, { accessLevel: 1 }), 200);
    await expectBody(bob.get(path), 200, { id, permissions: { read: true, edit: false } });
    await expectError(bob.put(path, { name: 'N' }), 403, 'You lack the permission integration:edit');
    await expectStatus(ann.delete(library.path), 204);
    await expectStatus(admin.get(path), 404);
  });

  test('is changed and deleted by those who may write the library, also without having created it', async ({
    ann,
    bob,
    admin,
  }) => {
    const library = await createLibrary(ann);
    const { path } = await createIntegration(ann, { libraryId: library.id });
    const { path: ofTenant } = await createIntegration(ann);
    await expectStatus(admin.put(`${library.path}/owner`, { ownerId: bob.id }), 200);
    const permissions = { read: true, edit: true, delete: true };
    await expectBody(bob.get(path), 200, { creatorId: ann.id, permissions });
    await expectBody(bob.put(path, { name: 'Of Bob' }), 200, { name: 'Of Bob', creatorId: ann.id });
    await expectError(bob.put(ofTenant, { name: 'Of Bob' }), 403);
    await expectError(bob.delete(path), 409, 'The integration is in use by library "Papers"');
    await expectStatus(bob.put(library.path, { integrationId: null }), 200);
    await expectStatus(bob.delete(path), 204);
  });

  test('is changed and deleted by its creator only while they may write the library', async ({ ann, bob, admin }) => {
    const library = await createLibrary(ann);
    const { id, path } = await createIntegration(ann, { libraryId: library.id });
    await expectStatus(admin.put(`${library.path}/owner`, { ownerId: bob.id }), 200);
    await expectError(ann.put(path, { clientId: 'mine' }), 404, `There is no integration ${id}`);
    await expectStatus(bob.put(`${library.path}/shares/${ann.id}`, { accessLevel: 1 }), 200);
    const readOnly = { permissions: { read: true, edit: false, delete: false } };
    await expectBody(ann.get(path), 200, { clientId: GOOGLE.clientId, ...readOnly });
    const { integrations } = await ann.data(
      '{ integrations(limit: 1000) { items { id library { name } permissions { edit } } } }',
    );
    expect(integrations.items).toContainEqual({ id, library: { name: 'Papers' }, permissions: { edit: false } });
    await expectError(ann.put(path, { clientId: 'mine' }), 403, 'You lack the permission integration:edit');
    await expectError(ann.delete(path), 403, 'You lack the permission integration:delete');
    await expectStatus(admin.put(`${library.path}/owner`, { ownerId: ann.id }), 200);
    await expectBody(ann.put(path, { name: 'Mine' }), 200, { name: 'Mine', permissions: { edit: true } });
    await expectStatus(ann.put(library.path, { integrationId: null }), 200);
    await expectStatus(ann.delete(path), 204);
  });

  test('is created by those who may write the library', async ({ ann, bob }) => {
    const library = await createLibrary(ann);
    await expectError(bob.post(LIST, { ...GOOGLE, libraryId: library.id }), 404, `There is no library ${library.id}`);
    await ann.put(`${library.path}/shares/${bob.id}`, { accessLevel: 1 });
    await expectError(
      bob.post(LIST, { ...GOOGLE, libraryId: library.id }),
      403,
      'You lack the permission library:write',
    );
    await expectInvalid(ann.post(LIST, { ...GOOGLE, libraryId: 'x' }), 'libraryId', 'libraryId must be a UUID');
    await expectError(ann.post(LIST, { ...GOOGLE, libraryId: UNKNOWN_ID }), 404, `There is no library ${UNKNOWN_ID}`);
  });
});

test('an unknown integration is NOT_FOUND in GraphQL', async ({ ann }) => {
  await expectGraphqlError(ann.gql(`{ integration(id: "${UNKNOWN_ID}") { id } }`), 'NOT_FOUND');
  await expectGraphqlError(
    ann.gql(`mutation { updateIntegration(id: "x", input: { name: "N" }) { id } }`),
    'NOT_FOUND',
    'There is no integration x',
  );
});
