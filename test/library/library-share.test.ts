import { expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { addFile, createLibrary } from './library-fixture.ts';

test('a share of a library has the level 0, without access, or 1, to read', async ({ ann, bob }) => {
  const { id, path } = await createLibrary(ann);
  const single = `${path}/shares/${bob.id}`;
  for (const [accessLevel, status] of [
    [0, 404],
    [1, 200],
    [0, 404],
  ] as const) {
    const record = { principalId: bob.id, libraryId: id, accessLevel };
    await expectBody(ann.put(single, { accessLevel }), 200, record);
    await expectBody(ann.get(single), 200, record);
    await expectBody(ann.get(`${path}/shares`), 200, { total: 1, _embedded: { 'svc:share': [record] } });
    await expectStatus(bob.get(path), status);
    await expectStatus(bob.get(`${path}/files`), status);
    await expectStatus(bob.get(`${path}/shares`), status);
    const { libraries } = await bob.data('{ libraries { items { id } } }');
    expect(libraries.items).toEqual(status === 200 ? [{ id }] : []);
  }
  for (const accessLevel of [2, 3, 4, -1])
    await expectError(ann.put(single, { accessLevel }), 400, `"accessLevel" cannot be ${accessLevel}`);
  await expectStatus(ann.delete(single), 204);
  await expectError(ann.get(single), 404, `There is no share ${bob.id}`);
});

test('the shares of a library are the same in GraphQL', async ({ ann, bob }) => {
  const { id } = await createLibrary(ann);
  const share = (level: string) =>
    `mutation { shareLibrary(id: "${id}", principalId: "bob", input: { accessLevel: ${level} }) { accessLevel } }`;
  for (const level of ['NONE', 'VIEW'])
    expect(await ann.data(share(level))).toEqual({ shareLibrary: { accessLevel: level } });
  const { library } = await bob.data(
    `{ library(id: "${id}") { shares { accessLevel } permissions { read sync share } } }`,
  );
  expect(library).toEqual({
    shares: [{ accessLevel: 'VIEW' }],
    permissions: { read: true, sync: false, share: false },
  });
  await expectGraphqlError(ann.gql(share('EDIT')), 'BAD_USER_INPUT', /LibraryShareLevel/);
  expect(await ann.data(`mutation { unshareLibrary(id: "${id}", principalId: "bob") }`)).toEqual({
    unshareLibrary: 'bob',
  });
});

test('library:write suffices to share a library, and reading does not', async ({ service, ann, bob, admin }) => {
  const carl = await service.user('carl');
  const team = await admin.creates('/teams', { name: 'Sharers' });
  await admin.put(`/teams/${team.id}/members/ann`, { role: 'memberPlus' });
  const { path } = await createLibrary(admin, { ownerId: `team:${team.id}` });
  await expectStatus(ann.put(`${path}/shares/bob`, { accessLevel: 1 }), 200);
  for (const response of [
    bob.put(`${path}/shares/${carl.id}`, { accessLevel: 0 }),
    bob.delete(`${path}/shares/${bob.id}`),
  ])
    await expectError(response, 403, 'You lack the permission library:write');
  await expectStatus(ann.delete(`${path}/shares/bob`), 204);
  await expectStatus(bob.get(path), 404);
});

test('the search finds files of libraries for those who may read the library', async ({ service, ann, bob }) => {
  const { id, path } = await createLibrary(ann);
  const fileId = await addFile(service, id, { path: 'plans/Zeppelin timetable.pdf', content: 'x' });
  const find = async (client: typeof ann, q: string) =>
    (await client.get(`/search?q=${q}&kinds=library-file`)).body._embedded['svc:hit'].map((hit: any) => hit.id);
  const hits = (await ann.get('/search?q=zeppelin')).body;
  expect(hits._embedded['svc:hit']).toMatchObject([
    {
      kind: 'library-file',
      id: fileId,
      libraryId: id,
      name: 'Zeppelin timetable.pdf',
      description: 'plans/Zeppelin timetable.pdf',
      ownerId: ann.id,
      _links: { self: { href: `/api${path}/files/${fileId}` } },
    },
  ]);
  const { search } = await ann.data(
    `{ search(q: "zeppelin", kinds: [LIBRARY_FILE]) { total items { library { id } node { __typename id } } } }`,
  );
  expect(search).toEqual({
    total: 1,
    items: [{ library: { id }, node: { __typename: 'LibraryFile', id: fileId } }],
  });
  expect(await find(bob, 'zeppelin')).toEqual([]);
  await ann.put(`${path}/shares/bob`, { accessLevel: 1 });
  expect(await find(bob, 'zeppelin')).toEqual([fileId]);
  await ann.put(`${path}/shares/bob`, { accessLevel: 0 });
  expect(await find(bob, 'zeppelin')).toEqual([]);
  await ann.put(`${path}/owner`, { ownerId: 'bob' });
  expect(await find(bob, 'zeppelin')).toEqual([fileId]);
  expect(await find(ann, 'zeppelin')).toEqual([]);
  await service.platform.system.query({
    text: `update dws.library_file set name = 'Airship.pdf', path = 'Airship.pdf' where id = $1`,
    values: [fileId],
  });
  expect(await find(bob, 'zeppelin')).toEqual([]);
  expect(await find(bob, 'airship')).toEqual([fileId]);
});
