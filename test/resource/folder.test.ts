import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { FIXTURES, READABLE_BY_ALL } from '../conformance/fixtures.ts';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';

const make = async (client: Client, name: string, parentId: string | null = null): Promise<string> =>
  (await client.creates('/folders', { name, parentId })).id;
const names = (body: { _embedded: { 'svc:folder': { name: string }[] } }): string[] =>
  body._embedded['svc:folder'].map(({ name }) => name);
const source = (client: Client, name: string, ownerId?: string): Promise<string> =>
  FIXTURES['datasources']!.create(client, name, ownerId);

describe('a folder', () => {
  test('is made by who may create folders, and read by everybody in the tenant', async ({
    service,
    ann,
    bob,
    stranger,
  }) => {
    const made = await ann.post('/folders', { name: ' Reports ' });
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'Reports', parentId: null, permissions: { read: true, write: true, delete: true, create: true } },
    });
    const { id } = made.body;
    expect(made.headers.get('location')).toBe(`/api/folders/${id}`);
    expect(made.body._links).toEqual({
      self: { href: `/api/folders/${id}` },
      'svc:permissions': { href: `/api/folders/${id}/permissions` },
    });
    const below = await ann.creates('/folders', { name: 'Reports', parentId: id });
    expect(below).toMatchObject({ parentId: id, _links: { 'svc:parent-folder': { href: `/api/folders/${id}` } } });
    expect(await ann.creates('/folders', { name: 'Reports', parentId: id }), 'siblings may share a name').toMatchObject(
      { name: 'Reports' },
    );

    const nobody = await service.user('reads-folders', { permissions: [] });
    expect(await nobody.get(`/folders/${id}`)).toMatchObject({
      status: 200,
      body: { permissions: { read: true, write: false, delete: false, create: false } },
    });
    expect(await nobody.get(`/folders/${id}/permissions`)).toMatchObject({
      status: 200,
      body: { read: true, write: false, delete: false, create: false },
    });
    expect(await nobody.post('/folders', { name: 'x' })).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission folders:create' },
    });
    expect(names((await bob.get(`/folders/${id}/subfolders`)).body)).toEqual(['Reports', 'Reports']);
    expect(await stranger.get(`/folders/${id}`)).toMatchObject({
      status: 404,
      body: { message: `There is no folder ${id}` },
    });
    expect(await stranger.post('/folders', { name: 'x', parentId: id })).toMatchObject({
      status: 404,
      body: { message: `There is no folder ${id}` },
    });
    for (const body of [{}, { name: '' }, { name: 'x'.repeat(256) }, { name: null }, { name: 'x', colour: 'red' }])
      expect(await ann.post('/folders', body), JSON.stringify(body)).toMatchObject({ status: 400 });
    expect(await ann.post('/folders', { name: 'x'.repeat(255) })).toMatchObject({ status: 201 });
    for (const parentId of [newId(), 'no-uuid'])
      expect(await ann.post('/folders', { name: 'x', parentId })).toMatchObject({
        status: 404,
        body: { message: `There is no folder ${parentId}` },
      });
  });

  test('is found by a part of its name, ignoring case, and sorted', async ({ ann }) => {
    for (const name of ['zeta Marketing', 'Alpha marketing', '100% marketing', 'Sales of it']) await make(ann, name);
    expect(names((await ann.get('/folders?name=MARKET')).body)).toEqual([
      '100% marketing',
      'Alpha marketing',
      'zeta Marketing',
    ]);
    expect(names((await ann.get('/folders?name=0%25 m')).body)).toEqual(['100% marketing']);
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

  test('is changed and deleted by its creator and by who may create folders', async ({ service, admin, ann, bob }) => {
    const once = await service.user('once', { permissions: ['folders:create'] });
    const id = await make(once, 'Once mine');
    await service.platform.system.query({
      text: `update dws.app_user set permissions = '[]' where id = $1`,
      values: [once.id],
    });
    const creator = await service.login('once');
    const nobody = await service.user('changes-nothing', { permissions: [] });
    expect(await nobody.put(`/folders/${id}`, { name: 'x' })).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission folder:write' },
    });
    expect(await nobody.delete(`/folders/${id}`)).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission folder:delete' },
    });
    expect(await creator.put(`/folders/${id}`, { name: 'Still mine' })).toMatchObject({
      status: 200,
      body: { name: 'Still mine', permissions: { write: true, create: false } },
    });
    const seen = await bob.get(`/folders/${id}`);
    expect(
      await bob.put(`/folders/${id}`, { ...seen.body, name: 'Sent back' }, { 'if-match': seen.headers.get('etag')! }),
    ).toMatchObject({ status: 200, body: { name: 'Sent back' } });
    expect(await bob.put(`/folders/${id}`, { name: 'x' }, { 'if-match': seen.headers.get('etag')! })).toMatchObject({
      status: 412,
    });
    expect(await bob.put(`/folders/${id}`, { name: null })).toMatchObject({ status: 400 });
    expect(await creator.delete(`/folders/${id}`)).toMatchObject({ status: 204 });
    expect(await admin.get(`/folders/${id}`)).toMatchObject({ status: 404 });
    expect(await ann.delete(`/folders/${id}`)).toMatchObject({ status: 404 });
  });

  test('moves, but never into itself', async ({ ann }) => {
    const [top, middle] = [await make(ann, 'top'), await make(ann, 'middle')];
    expect(await ann.put(`/folders/${middle}`, { parentId: top.toUpperCase() })).toMatchObject({
      status: 200,
      body: { parentId: top },
    });
    const leaf = await make(ann, 'leaf', middle);
    for (const parentId of [top, middle, leaf])
      expect(await ann.put(`/folders/${top}`, { parentId, name: 'moved' })).toMatchObject({
        status: 400,
        body: { message: expect.stringMatching(/^parentId would put the folder "(moved|middle|leaf)" into itself$/) },
      });
    expect((await ann.get(`/folders/${top}`)).body).toMatchObject({ name: 'top', parentId: null });
    expect(
      await ann.gql(`mutation { updateFolder(id: "${top}", input: { parentId: "${leaf}" }) { id } }`),
    ).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT', status: 400 } }] });
    expect(await ann.put(`/folders/${leaf}`, { parentId: newId() })).toMatchObject({ status: 404 });
    expect(await ann.put(`/folders/${middle}`, { parentId: null })).toMatchObject({
      status: 200,
      body: { parentId: null },
    });
    expect(await ann.put(`/folders/${top}`, { parentId: leaf })).toMatchObject({
      status: 200,
      body: { parentId: leaf },
    });
  });

  test('takes part in no cycle, however many move at once', async ({ ann, service }) => {
    const ring = await Promise.all(Array.from({ length: 8 }, (_, n) => make(ann, `ring ${n}`)));
    const answers = await Promise.all(
      ring.map((id, n) => ann.put(`/folders/${id}`, { parentId: ring[(n + 1) % ring.length] })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(7).fill(200), 400]);
    const atTop = await service.platform.system.query({
      text: `select id from dws.folder where id = any($1) and parent_id is null`,
      values: [ring],
    });
    expect(atTop).toHaveLength(1);
  });

  test('goes with the folders in it, and what else lay there is in none', async ({ ann }) => {
    const top = await make(ann, 'going');
    const below = await make(ann, 'going too', await make(ann, 'between', top));
    const report = await ann.creates('/reports', { name: 'lies there', folderId: below });
    expect(report).toMatchObject({ folderId: below });
    const { headers } = await ann.get(`/reports/${report.id}`);
    expect(await ann.delete(`/folders/${top}`)).toMatchObject({ status: 204 });
    expect(await ann.get(`/folders/${below}`)).toMatchObject({ status: 404 });
    expect(await ann.get(`/reports/${report.id}`)).toMatchObject({ status: 200, body: { folderId: null } });
    expect(
      await ann.put(`/reports/${report.id}`, { name: 'x' }, { 'if-match': headers.get('etag')! }),
      'that is a change of the report',
    ).toMatchObject({ status: 412 });
  });

  test('is the same in GraphQL, with parent, subfolders and what lies in it', async ({ admin, ann }) => {
    const made = (
      await ann.data(
        'mutation { createFolder(input: { name: "Told" }) { id name parent { id } permissions { read write delete create } } }',
      )
    ).createFolder;
    expect(made).toEqual({
      id: expect.any(String),
      name: 'Told',
      parent: null,
      permissions: { read: true, write: true, delete: true, create: true },
    });
    const below = (
      await ann.data(
        `mutation { createFolder(input: { name: "Below", parentId: "${made.id}" }) { id parentId parent { name } } }`,
      )
    ).createFolder;
    expect(below).toMatchObject({ parentId: made.id, parent: { name: 'Told' } });
    expect(
      await ann.data(
        `{ folder(id: "${made.id}") { subfolders { name subfolders { id } parent { name } } } node(id: "${below.id}") { ... on Folder { name parent { name } } } }`,
      ),
    ).toEqual({
      folder: { subfolders: [{ name: 'Below', subfolders: [], parent: { name: 'Told' } }] },
      node: { name: 'Below', parent: { name: 'Told' } },
    });
    const id = await source(admin, 'told source');
    expect(await admin.data(`mutation { bulkAssignFolder(entities: ["${id}"], folderId: "${below.id}") }`)).toEqual({
      bulkAssignFolder: true,
    });
    expect(
      await admin.data(
        `{ datasource(id: "${id}") { folderId folder { name parent { name } } } datasources(folderId: "${below.id}") { items { id folder { id } } } }`,
      ),
    ).toEqual({
      datasource: { folderId: below.id, folder: { name: 'Below', parent: { name: 'Told' } } },
      datasources: { items: [{ id, folder: { id: below.id } }] },
    });
    expect(await ann.data(`mutation { deleteFolder(id: "${made.id}") }`)).toEqual({ deleteFolder: made.id });
    expect(await ann.gql(`{ folder(id: "${below.id}") { id } }`)).toMatchObject({
      errors: [{ extensions: { code: 'NOT_FOUND' } }],
    });
  });
});

describe.each(Object.keys(FIXTURES).filter((kind) => !READABLE_BY_ALL.has(kind)))('one of the %s', (kind) => {
  test('lies in a folder of its tenant, or in none', async ({ admin, stranger }) => {
    const id = await FIXTURES[kind]!.create(admin, `lying ${kind}`);
    const path = `/${kind}/${id}`;
    const folderId = await make(admin, `for ${kind}`);
    expect(await admin.put(path, { folderId })).toMatchObject({ status: 200, body: { folderId } });
    expect((await admin.get(`/${kind}?folderId=${folderId}`)).body).toMatchObject({ total: 1 });
    for (const unknown of [newId(), await make(stranger, 'elsewhere'), 'no-uuid'])
      expect(await admin.put(path, { folderId: unknown })).toMatchObject({
        status: 404,
        body: { message: `There is no folder ${unknown}` },
      });
    expect((await admin.get(path)).body).toMatchObject({ folderId });
    expect(await admin.put(path, { folderId: null })).toMatchObject({ status: 200, body: { folderId: null } });
    expect(await admin.post('/folders/_bulk-assign', { entities: [id], folderId })).toMatchObject({
      status: 204,
      body: '',
    });
    expect((await admin.get(path)).body).toMatchObject({ folderId });
  });
});

describe('a bulk assignment', () => {
  test('passes over what its caller may not write, by ownership, role and share, in silence', async ({
    service,
    admin,
    ann,
  }) => {
    const folderId = await make(ann, 'assigned');
    const team = await admin.creates('/teams', { name: 'Assigners' });
    const readers = await admin.creates('/teams', { name: 'Assigning readers' });
    await admin.put(`/teams/${team.id}/members/ann`, { role: 'memberPlus' });
    await admin.put(`/teams/${readers.id}/members/ann`, { role: 'member' });
    const [own, ofTeam, read, edited, viewed, hidden] = [
      await source(admin, 'own', 'user:ann'),
      await source(admin, 'of team', `team:${team.id}`),
      await source(admin, 'read', `team:${readers.id}`),
      await source(admin, 'edited'),
      await source(admin, 'viewed'),
      await source(admin, 'hidden'),
    ];
    await admin.put(`/datasources/${edited}/shares/ann`, { accessLevel: 2 });
    await admin.put(`/datasources/${viewed}/shares/ann`, { accessLevel: 1 });
    const report = (await ann.creates('/reports', { name: 'assigned too' })).id;
    const entities = [own.toUpperCase(), ofTeam, read, edited, viewed, hidden, report, newId(), 'no uuid', own];
    expect(await ann.post('/folders/_bulk-assign', { entities, folderId })).toMatchObject({ status: 204 });

    const lying = await service.platform.system.query<{ id: string }>({
      text: `select id from dws.datasource where folder_id = $1 union all select id from dws.report where folder_id = $1`,
      values: [folderId],
    });
    expect(lying.map(({ id }) => id).toSorted()).toEqual([own, ofTeam, edited, report].toSorted());
    expect((await admin.get(`/datasources/${own}`)).headers.get('etag')).toMatch(/^W\/"2-/);
    expect(await ann.post('/folders/_bulk-assign', { entities: [own, hidden], folderId: null })).toMatchObject({
      status: 204,
    });
    expect((await admin.get(`/datasources/${own}`)).body).toMatchObject({ folderId: null });
  });

  test('names a folder that there is, or null, and at most 1000 resources', async ({ ann, stranger, anonymous }) => {
    const folderId = newId();
    expect(await ann.post('/folders/_bulk-assign', { entities: [], folderId })).toMatchObject({
      status: 404,
      body: { message: `There is no folder ${folderId}` },
    });
    expect(
      await ann.post('/folders/_bulk-assign', { entities: [], folderId: await make(stranger, 'other') }),
    ).toMatchObject({ status: 404 });
    expect(await ann.post('/folders/_bulk-assign', { entities: [] })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('folderId') },
    });
    expect(
      await ann.post('/folders/_bulk-assign', { entities: Array(1001).fill(folderId), folderId: null }),
    ).toMatchObject({ status: 400, body: { message: 'entities must name at most 1000 resources' } });
    expect(
      await ann.post('/folders/_bulk-assign', { entities: Array(1000).fill(folderId), folderId: null }),
    ).toMatchObject({ status: 204 });
    expect(await anonymous.post('/folders/_bulk-assign', { entities: [], folderId: null })).toMatchObject({
      status: 401,
    });
  });
});

describe('a bulk update', () => {
  test('removes, then adds, then changes, parents in any order', async ({ ann }) => {
    const [old, oldChild, kept] = [await make(ann, 'old'), newId(), await make(ann, 'kept')];
    const [a, b, c] = [newId(), newId(), newId()];
    expect(
      await ann.post('/folders/_bulk-update', { add: [{ id: oldChild, name: 'old child', parentId: old }] }),
    ).toMatchObject({ status: 204, body: '' });
    const changes = {
      update: [
        { id: kept, parentId: c },
        { id: b, name: 'renamed' },
      ],
      add: [
        { id: a, name: 'a', parentId: b },
        { id: b, name: 'b', parentId: c.toUpperCase() },
        { id: c.toUpperCase(), name: 'c' },
        { id: oldChild, name: 'again', parentId: null },
      ],
      remove: [old, oldChild],
    };
    expect(await ann.post('/folders/_bulk-update', changes)).toMatchObject({ status: 204 });
    expect(await ann.get(`/folders/${old}`)).toMatchObject({ status: 404 });
    expect(
      await ann.data(
        `{ folder(id: "${c}") { parent { id } subfolders { name subfolders { name } } } again: folder(id: "${oldChild}") { name parentId permissions { write } } }`,
      ),
    ).toEqual({
      folder: {
        parent: null,
        subfolders: [
          { name: 'kept', subfolders: [] },
          { name: 'renamed', subfolders: [{ name: 'a' }] },
        ],
      },
      again: { name: 'again', parentId: null, permissions: { write: true } },
    });
    expect(
      await ann.data(`mutation { bulkUpdateFolders(input: { update: [{ id: "${kept}", parentId: null }] }) }`),
    ).toEqual({ bulkUpdateFolders: true });
    expect((await ann.get(`/folders/${kept}`)).body).toMatchObject({ name: 'kept', parentId: null });
  });

  test('is undone as a whole when any of it is wrong', async ({ ann, stranger }) => {
    const [one, two] = [await make(ann, 'one'), await make(ann, 'two')];
    const foreign = await make(stranger, 'foreign');
    const fresh = newId();
    const cases: [number, string, object][] = [
      [409, `The id ${two} is already in use`, { add: [{ id: two, name: 'x' }] }],
      [409, `The id ${foreign} is already in use`, { add: [{ id: foreign, name: 'x' }] }],
      [
        409,
        `The id ${fresh} is already in use`,
        {
          add: [
            { id: fresh, name: 'x' },
            { id: fresh.toUpperCase(), name: 'y' },
          ],
        },
      ],
      [404, `There is no folder ${fresh}`, { add: [{ id: newId(), name: 'x', parentId: fresh }] }],
      [404, `There is no folder ${one}`, { add: [{ id: fresh, name: 'x', parentId: one }] }],
      [404, `There is no folder ${one}`, { update: [{ id: one, name: 'x' }] }],
      [404, `There is no folder ${foreign}`, { update: [{ id: two, parentId: foreign }] }],
      [404, `There is no folder ${foreign}`, { remove: [one, foreign] }],
      [
        400,
        'update names the folder',
        {
          update: [
            { id: two, name: 'x' },
            { id: two, name: 'y' },
          ],
        },
      ],
      [400, 'add.0.id must be a UUID', { add: [{ id: 'mine', name: 'x' }] }],
      [400, 'update.0.name is required', { update: [{ id: two, name: null }] }],
      [400, 'parentId would put the folder "two" into itself', { update: [{ id: two, parentId: two }] }],
      [
        400,
        'parentId would put the folder',
        { add: [{ id: fresh, name: 'x', parentId: two }], update: [{ id: two, parentId: fresh }] },
      ],
      [400, 'into itself', { add: [{ id: fresh, name: 'x', parentId: fresh }] }],
      [400, 'surprise', { surprise: 1 }],
    ];
    for (const [status, message, changes] of cases)
      expect(await ann.post('/folders/_bulk-update', { remove: [one], ...changes }), message).toMatchObject({
        status,
        body: { message: expect.stringContaining(message) },
      });
    expect((await ann.get(`/folders/${one}`)).status, 'nothing was removed').toBe(200);
    expect((await ann.get(`/folders/${two}`)).body).toMatchObject({ name: 'two', parentId: null });
    expect((await ann.get(`/folders/${fresh}`)).status).toBe(404);
    expect(await ann.post('/folders/_bulk-update', { remove: Array.from({ length: 1001 }, newId) })).toMatchObject({
      status: 400,
      body: { message: 'input must name at most 1000 folders' },
    });
  });

  test('needs folders:create, even for one’s own', async ({ service }) => {
    const nobody = await service.user('bulk-nobody', { permissions: [] });
    expect(await nobody.post('/folders/_bulk-update', { add: [] })).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission folders:create' },
    });
  });

  test('makes a thousand folders, each in the one before', async ({ ann }) => {
    const ids = Array.from({ length: 1000 }, newId);
    const add = ids.map((id, n) => ({ id, name: `deep ${n}`, parentId: n === 0 ? null : ids[n - 1] }));
    expect(await ann.post('/folders/_bulk-update', { add: add.toReversed() })).toMatchObject({ status: 204 });
    expect(await ann.put(`/folders/${ids[0]}`, { parentId: ids[999] })).toMatchObject({ status: 400 });
    expect((await ann.get('/folders?name=deep')).body.total).toBe(1000);
    expect(await ann.delete(`/folders/${ids[0]}`)).toMatchObject({ status: 204 });
    expect((await ann.get('/folders?name=deep')).body.total).toBe(0);
  });
});
