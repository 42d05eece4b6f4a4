import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { FIXTURES } from '../conformance/fixtures.ts';
import type { Client } from '../support/client.ts';
import { expectError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';

const createFolder = async (client: Client, name: string, parentId: string | null = null): Promise<string> =>
  (await client.creates('/folders', { name, parentId })).id;
const createSource = (client: Client, name: string, ownerId?: string): Promise<string> =>
  FIXTURES['datasources']!.create(client, name, ownerId);
const createReport = async (client: Client, name: string): Promise<string> =>
  (await client.creates('/reports', { name })).id;

describe('a bulk assignment', () => {
  test('ignores resources that the caller may not write by ownership, role or share', async ({
    service,
    admin,
    ann,
  }) => {
    const folderId = await createFolder(ann, 'assigned');
    const team = await admin.creates('/teams', { name: 'Assigners' });
    const readers = await admin.creates('/teams', { name: 'Assigning readers' });
    await admin.put(`/teams/${team.id}/members/ann`, { role: 'memberPlus' });
    await admin.put(`/teams/${readers.id}/members/ann`, { role: 'member' });
    const [own, ofTeam, read, edited, viewed, hidden] = [
      await createSource(admin, 'own', 'user:ann'),
      await createSource(admin, 'of team', `team:${team.id}`),
      await createSource(admin, 'read', `team:${readers.id}`),
      await createSource(admin, 'edited'),
      await createSource(admin, 'viewed'),
      await createSource(admin, 'hidden'),
    ];
    await admin.put(`/datasources/${edited}/shares/ann`, { accessLevel: 2 });
    await admin.put(`/datasources/${viewed}/shares/ann`, { accessLevel: 1 });
    const report = (await ann.creates('/reports', { name: 'assigned too' })).id;
    const entities = [own.toUpperCase(), ofTeam, read, edited, viewed, hidden, report, newId(), 'no uuid', own];
    expect(await ann.post('/folders/_bulk-assign', { entities, folderId })).toMatchObject({ status: 204 });

    const moved = await service.platform.system.query<{ id: string }>({
      text: `
        select id from dws.datasource where folder_id = $1
        union all
        select id from dws.report where folder_id = $1`,
      values: [folderId],
    });
    expect(moved.map(({ id }) => id).toSorted()).toEqual([own, ofTeam, edited, report].toSorted());
    expect((await admin.get(`/datasources/${own}`)).headers.get('etag')).toMatch(/^W\/"2-/);
    expect(await ann.post('/folders/_bulk-assign', { entities: [own, hidden], folderId: null })).toMatchObject({
      status: 204,
    });
    expect((await admin.get(`/datasources/${own}`)).body).toMatchObject({ folderId: null });
  });

  test('requires an existing folder or null, and at most 1000 resources', async ({ ann, stranger, anonymous }) => {
    const folderId = newId();
    await expectError(
      ann.post('/folders/_bulk-assign', { entities: [], folderId }),
      404,
      `There is no folder ${folderId}`,
    );
    expect(
      await ann.post('/folders/_bulk-assign', { entities: [], folderId: await createFolder(stranger, 'other') }),
    ).toMatchObject({ status: 404 });
    await expectError(ann.post('/folders/_bulk-assign', { entities: [] }), 400, /folderId/);
    await expectError(
      ann.post('/folders/_bulk-assign', { entities: Array(1001).fill(folderId), folderId: null }),
      400,
      'entities must have at most 1000 items',
    );
    expect(
      await ann.post('/folders/_bulk-assign', { entities: Array(1000).fill(folderId), folderId: null }),
    ).toMatchObject({ status: 204 });
    expect(await anonymous.post('/folders/_bulk-assign', { entities: [], folderId: null })).toMatchObject({
      status: 401,
    });
  });
});

describe('a bulk update', () => {
  test('deletes, then creates, then updates folders, with parents in any order', async ({ ann }) => {
    const [old, oldChild, kept] = [await createFolder(ann, 'old'), newId(), await createFolder(ann, 'kept')];
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
        `{
          folder(id: "${c}") { parent { id } subfolders { name subfolders { name } } }
          again: folder(id: "${oldChild}") { name parentId permissions { write } }
        }`,
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

  test('is undone as a whole after any error', async ({ ann, stranger }) => {
    const [one, two] = [await createFolder(ann, 'one'), await createFolder(ann, 'two')];
    const foreign = await createFolder(stranger, 'foreign');
    const fresh = newId();
    const cases: [number, string, object][] = [
      [409, `The id ${two} is already in use`, { add: [{ id: two, name: 'x' }] }],
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
      [400, 'update.0.name must not be null', { update: [{ id: two, name: null }] }],
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
    expect((await ann.get(`/folders/${one}`)).status, 'nothing was deleted').toBe(200);
    expect((await ann.get(`/folders/${two}`)).body).toMatchObject({ name: 'two', parentId: null });
    expect((await ann.get(`/folders/${fresh}`)).status).toBe(404);
    await expectError(
      ann.post('/folders/_bulk-update', { remove: Array.from({ length: 1001 }, newId) }),
      400,
      'input must contain at most 1000 folders',
    );
  });

  test('an id of another tenant is an unused id', async ({ ann, stranger }) => {
    const create = (client: Client, id: string, parentId?: string) =>
      client.post('/folders/_bulk-update', { add: [{ id, name: 'mine', parentId }] });
    const foreign = await createFolder(stranger, 'foreign');
    const foreignChild = await createFolder(stranger, 'foreign child', foreign);
    const foreignReport = await createReport(stranger, 'foreign report');
    await stranger.post('/folders/_bulk-assign', { entities: [foreignReport], folderId: foreign });
    const unused = newId();
    expect(await create(ann, unused)).toMatchObject({ status: 204, body: '' });
    expect(await create(ann, foreign)).toMatchObject({ status: 204, body: '' });
    expect(await create(ann, foreignChild, foreign)).toMatchObject({ status: 204, body: '' });
    expect(
      await ann.data(`mutation { bulkUpdateFolders(input: { add: [{ id: "${foreignReport}", name: "x" }] }) }`),
    ).toEqual({ bulkUpdateFolders: true });
    await expectError(create(ann, foreign), 409, `The id ${foreign} is already in use`);

    const report = await createReport(ann, 'report in a folder');
    await ann.post('/folders/_bulk-assign', { entities: [report], folderId: foreign });
    const bySubfolder = `{ folder(id: "${foreign}") { name subfolders { name } } }`;
    expect(await ann.data(bySubfolder)).toEqual({ folder: { name: 'mine', subfolders: [{ name: 'mine' }] } });
    expect(await ann.delete(`/folders/${foreign}`)).toMatchObject({ status: 204 });
    expect((await ann.get(`/folders/${foreignChild}`)).status).toBe(404);
    expect((await ann.get(`/reports/${report}`)).body).toMatchObject({ folderId: null });
    expect(await stranger.data(bySubfolder)).toEqual({
      folder: { name: 'foreign', subfolders: [{ name: 'foreign child' }] },
    });
    expect((await stranger.get(`/reports/${foreignReport}`)).body).toMatchObject({ folderId: foreign });
  });

  test('a folder with the id of another resource neither hides nor reveals it', async ({ ann, bob }) => {
    const report = await createReport(ann, 'shadowed');
    await expectStatus(bob.post('/folders/_bulk-update', { add: [{ id: report, name: 'shadow' }] }), 204);
    const node = `{ node(id: "${report}") { __typename } }`;
    expect(await ann.data(node)).toEqual({ node: { __typename: 'Report' } });
    expect(await bob.data(node)).toEqual({ node: { __typename: 'Folder' } });
    expect((await ann.get(`/reports/${report}`)).body).toMatchObject({ id: report, name: 'shadowed' });
    expect((await bob.get(`/reports/${report}`)).status).toBe(404);
    expect((await bob.get(`/folders/${report}`)).body).toMatchObject({ name: 'shadow' });
  });

  test('requires folders:create, even for the caller’s own folders', async ({ service }) => {
    const outsider = await service.user('bulk-outsider', { permissions: [] });
    await expectError(
      outsider.post('/folders/_bulk-update', { add: [] }),
      403,
      'You lack the permission folders:create',
    );
  });

  test('creates a thousand folders, each inside the previous one', async ({ ann }) => {
    const ids = Array.from({ length: 1000 }, newId);
    const add = ids.map((id, n) => ({ id, name: `deep ${n}`, parentId: n === 0 ? null : ids[n - 1] }));
    expect(await ann.post('/folders/_bulk-update', { add: add.toReversed() })).toMatchObject({ status: 204 });
    expect(await ann.put(`/folders/${ids[0]}`, { parentId: ids[999] })).toMatchObject({ status: 400 });
    expect((await ann.get('/folders?name=deep')).body.total).toBe(1000);
    expect(await ann.delete(`/folders/${ids[0]}`)).toMatchObject({ status: 204 });
    expect((await ann.get('/folders?name=deep')).body.total).toBe(0);
  });
});
