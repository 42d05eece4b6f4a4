import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { FIXTURES } from '../conformance/fixtures.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';

const createSource = (client: Client, name: string): Promise<string> => FIXTURES['datasources']!.create(client, name);
const createSources = async (client: Client, ...names: string[]): Promise<string[]> => {
  const ids: string[] = [];
  for (const name of names) ids.push(await createSource(client, name));
  return ids;
};
const share = (admin: Client, id: string, username: string) =>
  admin.put(`/datasources/${id}/shares/${username}`, { accessLevel: 1 });
const membersOf = async (client: Client, id: string): Promise<string[]> =>
  (await client.get(`/suites/${id}`)).body.datasources;
const CREATOR = { permissions: ['datasources:create'] };

test('a suite has datasources in order, and its single GET embeds them', async ({ admin, ann, bob, stranger }) => {
  const [one, two, three] = (await createSources(admin, 'one', 'two', 'three')) as [string, string, string];
  const { id } = await expectBody(
    admin.post('/suites', {
      name: ' Sales ',
      description: 'All of sales',
      datasourceIds: [three, 'one', 'default:two', one],
    }),
    200,
    {
      name: 'Sales',
      description: 'All of sales',
      datasources: [three, one, two],
      permissions: { read: true, write: true, delete: true },
    },
  );
  expect((await admin.get(`/suites/${id}`)).body).toMatchObject({
    datasources: [three, one, two],
    _links: { self: { href: `/api/suites/${id}` } },
    _embedded: { 'svc:datasource': [{ id: three, name: 'three', type: 'postgres' }, { id: one }, { id: two }] },
  });

  const [listed] = (await ann.get('/suites?q=sales')).body._embedded['svc:suite'];
  expect(listed, 'all users see suites, with the datasources that they can read').toMatchObject({
    id,
    name: 'Sales',
    datasources: [],
    permissions: { read: true, write: false, delete: false },
  });
  expect(listed).not.toHaveProperty('_embedded');

  await share(admin, two, 'bob');
  await share(admin, three, 'bob');
  expect((await bob.get(`/suites/${id}`)).body).toMatchObject({
    datasources: [three, two],
    _embedded: { 'svc:datasource': [{ id: three, config: {} }, { id: two }] },
  });
  await expectError(stranger.get(`/suites/${id}`), 404, `There is no suite ${id}`);
  expect((await stranger.get('/suites')).body.total).toBe(0);
});

test('creating a suite requires datasources:create and readable datasources', async ({ admin, ann, service }) => {
  const creator = await service.user('creator', CREATOR);
  const hidden = await createSource(admin, 'hidden from creator');
  const own = await createSource(creator, 'own');
  await expectError(ann.post('/suites', { name: 'x' }), 403, 'You lack the permission datasources:create');
  for (const unknown of [hidden, newId(), 'no-such']) {
    const response = creator.post('/suites', { name: 'x', datasourceIds: [own, unknown] });
    await expectError(response, 404, `There is no datasource ${unknown}`);
  }
  expect((await creator.get('/suites?q=x')).body.total).toBe(0);

  const invalidInputs = [
    {},
    { name: '' },
    { name: 'x'.repeat(256) },
    { name: 'x', datasourceIds: Array(1001).fill(own) },
    { name: 'x', colour: 1 },
    { name: 'x', datasourceIds: [1, {}] },
  ];
  for (const input of invalidInputs) expect((await creator.post('/suites', input)).status).toBe(400);
});

test('a suite is changed and deleted by its creator and by superusers', async ({ admin, ann, service }) => {
  const creator = await service.user('suite-creator', CREATOR);
  const own = await createSource(creator, 'own of suite creator');
  const { id } = await creator.creates('/suites', { name: 'created', datasourceIds: [own] });
  await expectError(ann.put(`/suites/${id}`, { name: 'x' }), 403, 'You lack the permission suite:write');
  await expectError(ann.delete(`/suites/${id}`), 403, 'You lack the permission suite:delete');
  await expectBody(admin.put(`/suites/${id}`, { name: 'by a superuser' }), 200, { datasources: [own] });
  await expectBody(creator.delete(`/suites/${id}`), 200, { success: true });
  await expectError(creator.get(`/suites/${id}`), 404);
  expect((await creator.get(`/datasources/${own}`)).status).toBe(200);
});

test('an update keeps the members that the caller cannot read', async ({ admin, service }) => {
  const editor = await service.user('editor', CREATOR);
  const [a, b, c] = (await createSources(editor, 'a', 'b', 'c')) as [string, string, string];
  const [unseen, unshared] = (await createSources(admin, 'unseen', 'unshared')) as [string, string];
  await share(admin, unshared, 'editor');
  const { id } = await editor.creates('/suites', { name: 'mixed', datasourceIds: [unshared, a, b] });
  await admin.put(`/suites/${id}`, { datasourceIds: [unseen, unshared, a, b] });
  await admin.delete(`/datasources/${unshared}/shares/editor`);

  const { body, headers } = await editor.get(`/suites/${id}`);
  const ifMatch = { 'if-match': headers.get('etag')! };
  expect(body.datasources).toEqual([a, b]);
  await expectBody(editor.put(`/suites/${id}`, { ...body, datasources: [c, a] }, ifMatch), 200, {
    name: 'mixed',
    datasources: [c, a],
  });
  expect(await membersOf(admin, id)).toEqual([c, a, unseen, unshared]);
  await expectError(editor.put(`/suites/${id}`, { datasourceIds: [a] }, ifMatch), 412);
  const withUnseen = editor.put(`/suites/${id}`, { datasourceIds: [unseen] });
  await expectError(withUnseen, 404, `There is no datasource ${unseen}`);

  const renamed = editor.put(`/suites/${id}`, { name: 'renamed', description: null });
  await expectBody(renamed, 200, { datasources: [c, a] });
  await expectBody(editor.put(`/suites/${id}`, { datasourceIds: null }), 200, { datasources: [] });
  expect(await membersOf(admin, id)).toEqual([unseen, unshared]);
  await expectBody(admin.put(`/suites/${id}`, { datasourceIds: [] }), 200, { datasources: [] });
});

test('deleting a datasource removes it from suites, and deleting the creator keeps the suite', async ({
  admin,
  service,
}) => {
  const creator = await service.user('leaver', CREATOR);
  const [staying, deleted] = (await createSources(admin, 'staying', 'deleted')) as [string, string];
  await share(admin, staying, 'leaver');
  const { id } = await creator.creates('/suites', { name: 'orphan', datasourceIds: [staying] });
  await admin.put(`/suites/${id}`, { datasourceIds: [deleted, staying] });

  expect((await admin.delete(`/datasources/${deleted}`)).status).toBe(204);
  expect((await admin.delete('/users/leaver')).status).toBe(204);
  expect((await admin.get(`/suites/${id}`)).body).toMatchObject({
    datasources: [staying],
    _embedded: { 'svc:datasource': [{ id: staying }] },
  });
});

test('concurrent updates leave the members of one of them', async ({ admin }) => {
  const ids = await Promise.all(Array.from({ length: 4 }, (_, n) => createSource(admin, `busy ${n}`)));
  const { id } = await admin.creates('/suites', { name: 'busy' });
  const orders = ids.map((_, n) => [...ids.slice(n), ...ids.slice(0, n)]);
  const responses = await Promise.all(orders.map((datasourceIds) => admin.put(`/suites/${id}`, { datasourceIds })));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(orders).toContainEqual(await membersOf(admin, id));
});

test('suites in GraphQL', async ({ admin, ann }) => {
  const member = await createSource(admin, 'member');
  const { createSuite } = await admin.data(
    `mutation { createSuite(input: { name: "GraphQL", datasourceIds: ["${member}"] }) { id } }`,
  );
  const { id } = createSuite;
  const query = `{
    suite(id: "${id}") { name description datasources sources { slug owner { name } } permissions { write } }
    suites(q: "graphql") { total items { datasources } }
    node(id: "${id}") { ... on Suite { name } }
  }`;
  expect(await admin.data(query)).toEqual({
    suite: {
      name: 'GraphQL',
      description: null,
      datasources: [member],
      sources: [{ slug: 'member', owner: { name: 'admin' } }],
      permissions: { write: true },
    },
    suites: { total: 1, items: [{ datasources: [member] }] },
    node: { name: 'GraphQL' },
  });
  expect(await ann.data(`{ suite(id: "${id}") { datasources sources { id } } }`)).toEqual({
    suite: { datasources: [], sources: [] },
  });

  const clear = `mutation { updateSuite(id: "${id}", input: { datasourceIds: [] }) { datasources } }`;
  expect(await admin.data(clear)).toEqual({ updateSuite: { datasources: [] } });
  const remove = `mutation { deleteSuite(id: "${id}") }`;
  await expectGraphqlError(ann.gql(remove), 'FORBIDDEN', 'You lack the permission suite:delete');
  expect(await admin.data(remove)).toEqual({ deleteSuite: id });
});
