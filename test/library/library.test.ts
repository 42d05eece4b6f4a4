import { describe, expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { limitStatements } from '../support/limit-statements.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { addFile, connect, createIntegration, createLibrary } from './library-fixture.ts';

const DEFAULTS = { rootId: null, extensions: [], maxFileBytes: 100_000_000 };

describe('a library', () => {
  test('is new without files, integration and connection', async ({ ann }) => {
    const created = await ann.post('/libraries', { name: 'Sales papers' });
    const expected = {
      id: created.body.id,
      tenant: 'default',
      slug: 'sales-papers',
      naturalId: 'default:sales-papers',
      name: 'Sales papers',
      description: null,
      type: null,
      integrationId: null,
      connectionStatus: null,
      settings: DEFAULTS,
      fileCount: 0,
      bytes: 0,
      lastSyncAt: null,
      lastSync: null,
      ownerId: ann.id,
      folderId: null,
      tags: [],
      permissions: {
        read: true,
        write: true,
        edit: true,
        sync: true,
        share: true,
        assignTags: true,
        delete: true,
        changeOwner: true,
      },
    };
    expect(created).toMatchObject({ status: 201, body: expected });
    expect(created.headers.get('location')).toBe(`/api/libraries/${created.body.id}`);
    await expectBody(ann.get('/libraries/default:sales-papers'), 200, expected);
    const { library } = await ann.data(
      `{ library(id: "sales-papers") { id type connectionStatus settings fileCount integration { id } } }`,
    );
    expect(library).toEqual({
      id: created.body.id,
      type: null,
      connectionStatus: null,
      settings: DEFAULTS,
      fileCount: 0,
      integration: null,
    });
    await expectError(ann.get(`/libraries/sales-papers/integration`), 404, /There is no integration of the library/);
  });

  test('is created by users who may, and unknown to others without a share', async ({
    service,
    ann,
    bob,
    stranger,
    anonymous,
  }) => {
    const guest = await service.user('guest', { permissions: [] });
    await expectError(guest.post('/libraries', { name: 'L' }), 403, 'You lack the permission libraries:create');
    await expectStatus(anonymous.post('/libraries', { name: 'L' }), 401);
    const { id, path } = await createLibrary(ann);
    for (const client of [bob, stranger]) {
      await expectError(client.get(path), 404, `There is no library ${id}`);
      await expectError(
        client.put(`${path}/integration`, { integrationId: UNKNOWN_ID }),
        404,
        `There is no library ${id}`,
      );
    }
    await expectStatus(ann.put(`${path}/shares/${bob.id}`, { accessLevel: 1 }), 200);
    for (const [response, ability] of [
      [bob.put(path, { name: 'Mine' }), 'write'],
      [bob.put(`${path}/integration`, { integrationId: UNKNOWN_ID }), 'write'],
      [bob.put(`${path}/owner`, { ownerId: bob.id }), 'changeOwner'],
      [bob.delete(path), 'delete'],
    ] as const)
      await expectError(response, 403, `You lack the permission library:${ability}`);
  });

  test('of a team is synced, shared and changed by memberPlus, and read by members', async ({ ann, bob, admin }) => {
    const team = await admin.creates('/teams', { name: 'Archivists' });
    await admin.put(`/teams/${team.id}/members/ann`, { role: 'memberPlus' });
    await admin.put(`/teams/${team.id}/members/bob`, { role: 'member' });
    const { path } = await createLibrary(ann, { ownerId: `team:${team.id}` });
    const permissions = (await ann.get(`${path}/permissions`)).body;
    expect(permissions).toEqual({
      read: true,
      write: true,
      edit: true,
      sync: true,
      share: true,
      assignTags: true,
      delete: false,
      changeOwner: false,
    });
    const denied = Object.fromEntries(Object.keys(permissions).map((name) => [name, name === 'read']));
    await expectBody(bob.get(`${path}/permissions`), 200, denied);
  });

  test('keeps valid settings with defaults, and refuses others by their path', async ({ ann }) => {
    const { path } = await createLibrary(ann, { settings: { extensions: ['.PDF', 'docx', 'pdf'] } });
    await expectBody(ann.get(path), 200, { settings: { ...DEFAULTS, extensions: ['pdf', 'docx'] } });
    const record = (await ann.get(path)).body;
    await expectBody(ann.put(path, { ...record, description: 'Kept' }), 200, {
      description: 'Kept',
      settings: record.settings,
    });
    const settings = { rootId: 'folder 1', maxFileBytes: 5_000_000_000 };
    await expectBody(ann.put(path, { settings }), 200, { settings: { ...DEFAULTS, ...settings } });
    for (const [wrong, at] of [
      [{ rootId: '' }, 'settings.rootId'],
      [{ rootId: 1 }, 'settings.rootId'],
      [{ extensions: 'pdf' }, 'settings.extensions'],
      [{ extensions: ['pdf', 'a/b'] }, 'settings.extensions.1'],
      [{ extensions: [null] }, 'settings.extensions.0'],
      [{ maxFileBytes: 0 }, 'settings.maxFileBytes'],
      [{ maxFileBytes: 1.5 }, 'settings.maxFileBytes'],
      [{ maxFileBytes: 5_000_000_001 }, 'settings.maxFileBytes'],
      [{ root: 'x' }, 'settings'],
    ] as const) {
      await expectInvalid(ann.put(path, { settings: wrong }), at, /.+/);
      await expectInvalid(ann.post('/libraries', { name: 'L', settings: wrong }), at, /.+/);
    }
    await expectBody(ann.put(path, { settings: null }), 200, { settings: DEFAULTS });
  });

  test('is deleted with its files and their contents', async ({ service, ann, bob }) => {
    const { id, path } = await createLibrary(ann);
    const integration = await createIntegration(ann, { libraryId: id });
    await expectStatus(ann.put(`${path}/integration`, { integrationId: integration.id }), 200);
    await connect(service, bob, id, integration.id);
    await addFile(service, id, { path: 'a/unique-name.txt', content: 'bytes' });
    const stored = () => service.platform.system.query({ text: 'select id from dws.stored_file' });
    expect(await stored()).toHaveLength(1);
    await expectStatus(ann.delete(path), 204);
    await expectStatus(ann.get(path), 404);
    expect(await stored()).toEqual([]);
    for (const table of ['library_file', 'connection', 'search_entry'])
      expect(
        await service.platform.system.query({
          text: `select id from dws.${table} where ${table === 'search_entry' ? `kind = 'library-file'` : 'library_id = $1'}`,
          values: table === 'search_entry' ? [] : [id],
        }),
        table,
      ).toEqual([]);
  });

  test('is deleted with many files, a thousand by a statement', async ({ service, ann }) => {
    const { id, path } = await createLibrary(ann);
    const run = (text: string) => service.platform.system.query({ text, values: [] });
    await run(`
      insert into dws.library_file (id, tenant_id, library_id, file_id, name, path, content_type, status)
      select gen_random_uuid(), tenant_id, id, n, n, n, 'text/plain', 'skipped'
      from dws.library, generate_series(1, 2500) n
      where id = '${id}'`);
    await limitStatements(service.databaseUrl, 'library_file', 1000);
    await expectStatus(ann.delete(path), 204);
    await expectStatus(ann.get(path), 404);
    expect(await run(`select id from dws.library_file where library_id = '${id}'`)).toEqual([]);
  });
});

describe('the integration of a library', () => {
  test('is set by PUT, and read through the library', async ({ ann, bob }) => {
    const { id, path } = await createLibrary(ann);
    const integration = await createIntegration(bob);
    const set = await ann.put(`${path}/integration`, { integrationId: integration.id });
    expect(set).toMatchObject({ status: 200, body: { id: integration.id, type: 'google-drive', libraryId: id } });
    expect((await ann.get(`${path}/integration`)).body).toEqual(set.body);
    expect(set.body._links.self.href).toBe(`/api${integration.path}`);
    await expectBody(ann.get(integration.path), 200, { libraryId: null });
    await expectBody(ann.get(path), 200, { integrationId: integration.id, type: 'google-drive' });
    const { library } = await ann.data(`{ library(id: "${id}") { type integration { id libraryId } } }`);
    expect(library).toEqual({ type: 'google-drive', integration: { id: integration.id, libraryId: null } });
    const { setLibraryIntegration } = await ann.data(
      `mutation { setLibraryIntegration(id: "${id}", integrationId: "${integration.id}") { integrationId } }`,
    );
    expect(setLibraryIntegration).toEqual({ integrationId: integration.id });
  });

  test('must be a known UUID, also in POST and PUT of the library', async ({ ann }) => {
    const { path } = await createLibrary(ann);
    for (const put of [
      (integrationId: unknown) => ann.put(`${path}/integration`, { integrationId }),
      (integrationId: unknown) => ann.put(path, { integrationId }),
      (integrationId: unknown) => ann.post('/libraries', { name: 'L', integrationId }),
    ]) {
      await expectInvalid(put('drive'), 'integrationId', 'integrationId must be a UUID');
      await expectError(put(UNKNOWN_ID), 404, `There is no integration ${UNKNOWN_ID}`);
    }
    for (const body of [{}, { integrationId: null }]) await expectStatus(ann.put(`${path}/integration`, body), 400);
    await expectGraphqlError(
      ann.gql(`mutation { updateLibrary(id: "${path.slice(11)}", input: { integrationId: "x" }) { id } }`),
      'BAD_USER_INPUT',
      /must be a UUID/,
    );
  });

  test('ends the connection when it is another one', async ({ service, ann }) => {
    const { id, path } = await createLibrary(ann);
    const [one, two] = [await createIntegration(ann), await createIntegration(ann)];
    await ann.put(`${path}/integration`, { integrationId: one.id });
    await connect(service, ann, id, one.id);
    await expectStatus(ann.put(`${path}/integration`, { integrationId: one.id }), 200);
    await expectBody(ann.put(path, { integrationId: one.id.toUpperCase() }), 200, { connectionStatus: 'connected' });
    await expectStatus(ann.put(`${path}/integration`, { integrationId: two.id }), 200);
    await expectBody(ann.get(path), 200, { integrationId: two.id, connectionStatus: null });
    await connect(service, ann, id, two.id);
    await expectBody(ann.put(path, { integrationId: null }), 200, { integrationId: null, connectionStatus: null });
    const events = (await ann.get(`${path}/activity`)).body._embedded['svc:activity'].map((one: any) => one.type);
    expect(events.filter((type: string) => type === 'library.disconnected')).toHaveLength(2);
  });
});
