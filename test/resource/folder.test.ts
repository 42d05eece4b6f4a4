import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { FIXTURES, OWNED_PATHS } from '../conformance/fixtures.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';

const createFolder = async (client: Client, name: string, parentId: string | null = null): Promise<string> =>
  (await client.creates('/folders', { name, parentId })).id;
const namesIn = (body: { _embedded: { 'svc:folder': { name: string }[] } }): string[] =>
  body._embedded['svc:folder'].map(({ name }) => name);
const createSource = (client: Client, name: string, ownerId?: string): Promise<string> =>
  FIXTURES['datasources']!.create(client, name, ownerId);

describe('a folder', () => {
  test('requires folders:create to be created, and is readable by all users of the tenant', async ({
    service,
    ann,
    bob,
    stranger,
  }) => {
    const created = await ann.post('/folders', { name: ' Reports ' });
    await expectBody(created, 201, {
      name: 'Reports',
      parentId: null,
      permissions: { read: true, write: true, delete: true, create: true },
    });
    const { id } = created.body;
    expect(created.headers.get('location')).toBe(`/api/folders/${id}`);
    expect(created.body._links).toMatchObject({
      self: { href: `/api/folders/${id}` },
      'svc:permissions': { href: `/api/folders/${id}/permissions` },
    });
    const below = await ann.creates('/folders', { name: 'Reports', parentId: id });
    expect(below).toMatchObject({ parentId: id, _links: { 'svc:parent-folder': { href: `/api/folders/${id}` } } });
    expect(await ann.creates('/folders', { name: 'Reports', parentId: id }), 'siblings may share a name').toMatchObject(
      { name: 'Reports' },
    );

    const reader = await service.user('reads-folders', { permissions: [] });
    await expectBody(reader.get(`/folders/${id}`), 200, {
      permissions: { read: true, write: false, delete: false, create: false },
    });
    await expectBody(reader.get(`/folders/${id}/permissions`), 200, {
      read: true,
      write: false,
      delete: false,
      create: false,
    });
    await expectError(reader.post('/folders', { name: 'x' }), 403, 'You lack the permission folders:create');
    expect(namesIn((await bob.get(`/folders/${id}/subfolders`)).body)).toEqual(['Reports', 'Reports']);
    await expectError(stranger.get(`/folders/${id}`), 404, `There is no folder ${id}`);
    await expectError(stranger.post('/folders', { name: 'x', parentId: id }), 404, `There is no folder ${id}`);
    for (const body of [{}, { name: '' }, { name: 'x'.repeat(256) }, { name: null }, { name: 'x', colour: 'red' }])
      expect(await ann.post('/folders', body), JSON.stringify(body)).toMatchObject({ status: 400 });
    expect(await ann.post('/folders', { name: 'x'.repeat(255) })).toMatchObject({ status: 201 });
    for (const parentId of [newId(), 'no-uuid'])
      await expectError(ann.post('/folders', { name: 'x', parentId }), 404, `There is no folder ${parentId}`);
  });

  test('is found by a part of its name ignoring case, and sorted by name', async ({ ann }) => {
    for (const name of ['zeta Marketing', 'Alpha marketing', '100% marketing', 'Sales of it'])
      await createFolder(ann, name);
    expect(namesIn((await ann.get('/folders?name=MARKET')).body)).toEqual([
      '100% marketing',
      'Alpha marketing',
      'zeta Marketing',
    ]);
    expect(namesIn((await ann.get('/folders?name=0%25 m')).body)).toEqual(['100% marketing']);
    expect((await ann.get('/folders?name=marketing&sort=-name&limit=1&start=1')).body).toMatchObject({
      total: 3,
      count: 1,
      start: 1,
      _embedded: { 'svc:folder': [{ name: 'Alpha marketing' }] },
    });
    expect((await ann.data('{ folders(name: "market", sort: "-name") { total items { name } } }')).folders).toEqual({
      total: 3,
      items: [{ name: 'zeta Marketing' }, { name: 'Alpha marketing' }, { name: '100% marketing' }],
    });
  });

  test('can be changed and deleted by its creator and with folders:create', async ({ service, admin, ann, bob }) => {
    const once = await service.user('once', { permissions: ['folders:create'] });
    const id = await createFolder(once, 'Once mine');
    await service.platform.system.query({
      text: `update dws.app_user set permissions = '[]' where id = $1`,
      values: [once.id],
    });
    const creator = await service.login('once');
    const outsider = await service.user('changes-nothing', { permissions: [] });
    await expectError(outsider.put(`/folders/${id}`, { name: 'x' }), 403, 'You lack the permission folder:write');
    await expectError(outsider.delete(`/folders/${id}`), 403, 'You lack the permission folder:delete');
    await expectBody(creator.put(`/folders/${id}`, { name: 'Still mine' }), 200, {
      name: 'Still mine',
      permissions: { write: true, create: false },
    });
    const seen = await bob.get(`/folders/${id}`);
    await expectBody(
      bob.put(`/folders/${id}`, { ...seen.body, name: 'Sent back' }, { 'if-match': seen.headers.get('etag')! }),
      200,
      { name: 'Sent back' },
    );
    expect(await bob.put(`/folders/${id}`, { name: 'x' }, { 'if-match': seen.headers.get('etag')! })).toMatchObject({
      status: 412,
    });
    expect(await bob.put(`/folders/${id}`, { name: null })).toMatchObject({ status: 400 });
    expect(await creator.delete(`/folders/${id}`)).toMatchObject({ status: 204 });
    expect(await admin.get(`/folders/${id}`)).toMatchObject({ status: 404 });
    expect(await ann.delete(`/folders/${id}`)).toMatchObject({ status: 404 });
  });

  test('moves, but not into itself', async ({ ann }) => {
    const [top, middle] = [await createFolder(ann, 'top'), await createFolder(ann, 'middle')];
    await expectBody(ann.put(`/folders/${middle}`, { parentId: top.toUpperCase() }), 200, { parentId: top });
    const leaf = await createFolder(ann, 'leaf', middle);
    for (const parentId of [top, middle, leaf])
      await expectError(
        ann.put(`/folders/${top}`, { parentId, name: 'moved' }),
        400,
        /^parentId would put the folder "(moved|middle|leaf)" into itself$/,
      );
    expect((await ann.get(`/folders/${top}`)).body).toMatchObject({ name: 'top', parentId: null });
    expect(
      await ann.gql(`mutation { updateFolder(id: "${top}", input: { parentId: "${leaf}" }) { id } }`),
    ).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT', status: 400 } }] });
    expect(await ann.put(`/folders/${leaf}`, { parentId: newId() })).toMatchObject({ status: 404 });
    await expectBody(ann.put(`/folders/${middle}`, { parentId: null }), 200, { parentId: null });
    await expectBody(ann.put(`/folders/${top}`, { parentId: leaf }), 200, { parentId: leaf });
  });

  test('is never part of a cycle, even after concurrent moves', async ({ ann, service }) => {
    const ring = await Promise.all(Array.from({ length: 8 }, (_, n) => createFolder(ann, `ring ${n}`)));
    const responses = await Promise.all(
      ring.map((id, n) => ann.put(`/folders/${id}`, { parentId: ring[(n + 1) % ring.length] })),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([...Array(7).fill(200), 400]);
    const atTop = await service.platform.system.query({
      text: `select id from dws.folder where id = any($1) and parent_id is null`,
      values: [ring],
    });
    expect(atTop).toHaveLength(1);
  });

  test('is deleted with the folders inside it, and their resources are in no folder afterwards', async ({ ann }) => {
    const top = await createFolder(ann, 'going');
    const below = await createFolder(ann, 'going too', await createFolder(ann, 'between', top));
    const report = await ann.creates('/reports', { name: 'lies there', folderId: below });
    expect(report).toMatchObject({ folderId: below });
    const { headers } = await ann.get(`/reports/${report.id}`);
    expect(await ann.delete(`/folders/${top}`)).toMatchObject({ status: 204 });
    expect(await ann.get(`/folders/${below}`)).toMatchObject({ status: 404 });
    await expectBody(ann.get(`/reports/${report.id}`), 200, { folderId: null });
    expect(
      await ann.put(`/reports/${report.id}`, { name: 'x' }, { 'if-match': headers.get('etag')! }),
      'the report has a new version',
    ).toMatchObject({ status: 412 });
  });

  test('has parent, subfolders and resources in GraphQL', async ({ admin, ann }) => {
    const created = (
      await ann.data(
        `mutation {
          createFolder(input: { name: "Above" }) {
            id name
            parent { id }
            permissions { read write delete create }
          }
        }`,
      )
    ).createFolder;
    expect(created).toEqual({
      id: expect.any(String),
      name: 'Above',
      parent: null,
      permissions: { read: true, write: true, delete: true, create: true },
    });
    const below = (
      await ann.data(
        `mutation {
          createFolder(input: { name: "Below", parentId: "${created.id}" }) { id parentId parent { name } }
        }`,
      )
    ).createFolder;
    expect(below).toMatchObject({ parentId: created.id, parent: { name: 'Above' } });
    expect(
      await ann.data(
        `{
          folder(id: "${created.id}") { subfolders { name subfolders { id } parent { name } } }
          node(id: "${below.id}") { ... on Folder { name parent { name } } }
        }`,
      ),
    ).toEqual({
      folder: { subfolders: [{ name: 'Below', subfolders: [], parent: { name: 'Above' } }] },
      node: { name: 'Below', parent: { name: 'Above' } },
    });
    const id = await createSource(admin, 'source in a folder');
    expect(await admin.data(`mutation { bulkAssignFolder(entities: ["${id}"], folderId: "${below.id}") }`)).toEqual({
      bulkAssignFolder: true,
    });
    expect(
      await admin.data(
        `{
          datasource(id: "${id}") { folderId folder { name parent { name } } }
          datasources(folderId: "${below.id}") { items { id folder { id } } }
        }`,
      ),
    ).toEqual({
      datasource: { folderId: below.id, folder: { name: 'Below', parent: { name: 'Above' } } },
      datasources: { items: [{ id, folder: { id: below.id } }] },
    });
    expect(await ann.data(`mutation { deleteFolder(id: "${created.id}") }`)).toEqual({ deleteFolder: created.id });
    await expectGraphqlError(ann.gql(`{ folder(id: "${below.id}") { id } }`), 'NOT_FOUND');
  });
});

describe.each(OWNED_PATHS)('one of the %s', (kind) => {
  test('is in a folder of its tenant or in none', async ({ admin, stranger }) => {
    const id = await FIXTURES[kind]!.create(admin, `filed ${kind}`);
    const path = `/${kind}/${id}`;
    const folderId = await createFolder(admin, `for ${kind}`);
    await expectBody(admin.put(path, { folderId }), 200, { folderId });
    expect((await admin.get(`/${kind}?folderId=${folderId}`)).body).toMatchObject({ total: 1 });
    for (const unknown of [newId(), await createFolder(stranger, 'elsewhere'), 'no-uuid'])
      await expectError(admin.put(path, { folderId: unknown }), 404, `There is no folder ${unknown}`);
    expect((await admin.get(path)).body).toMatchObject({ folderId });
    await expectBody(admin.put(path, { folderId: null }), 200, { folderId: null });
    expect(await admin.post('/folders/_bulk-assign', { entities: [id], folderId })).toMatchObject({
      status: 204,
      body: '',
    });
    expect((await admin.get(path)).body).toMatchObject({ folderId });
  });
});
