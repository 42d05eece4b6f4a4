import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { FIXTURES } from '../conformance/fixtures.ts';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';

const source = (client: Client, name: string, ownerId?: string): Promise<string> =>
  FIXTURES['datasources']!.create(client, name, ownerId);

test('a suite holds datasources in order, and its single GET shows them', async ({ admin, ann, bob, stranger }) => {
  const [one, two, three] = [await source(admin, 'one'), await source(admin, 'two'), await source(admin, 'three')];
  const made = await admin.post('/suites', {
    name: ' Sales ',
    description: 'All of sales',
    datasourceIds: [three, 'one', 'default:two', one],
  });
  expect(made).toMatchObject({
    status: 200,
    body: {
      name: 'Sales',
      description: 'All of sales',
      datasources: [three, one, two],
      permissions: { read: true, write: true, delete: true },
    },
  });
  const { id } = made.body;
  expect((await admin.get(`/suites/${id}`)).body).toMatchObject({
    datasources: [three, one, two],
    _links: { self: { href: `/api/suites/${id}` } },
    _embedded: { 'svc:datasource': [{ id: three, name: 'three', type: 'postgres' }, { id: one }, { id: two }] },
  });
  const [listed] = (await ann.get('/suites?q=sales')).body._embedded['svc:suite'];
  expect(listed, 'everybody sees suites, of their datasources what they may read').toMatchObject({
    id,
    name: 'Sales',
    datasources: [],
    permissions: { read: true, write: false, delete: false },
  });
  expect(listed).not.toHaveProperty('_embedded');
  await admin.put(`/datasources/${two}/shares/bob`, { accessLevel: 1 });
  await admin.put(`/datasources/${three}/shares/bob`, { accessLevel: 1 });
  expect((await bob.get(`/suites/${id}`)).body).toMatchObject({
    datasources: [three, two],
    _embedded: { 'svc:datasource': [{ id: three, config: {} }, { id: two }] },
  });
  expect(await stranger.get(`/suites/${id}`)).toMatchObject({
    status: 404,
    body: { message: `There is no suite ${id}` },
  });
  expect((await stranger.get('/suites')).body.total).toBe(0);
});

test('a suite is made by who may create datasources, of datasources that they may read', async ({
  admin,
  ann,
  service,
}) => {
  const maker = await service.user('maker', { permissions: ['datasources:create'] });
  const hidden = await source(admin, 'hidden from maker');
  expect(await ann.post('/suites', { name: 'x' })).toMatchObject({
    status: 403,
    body: { message: 'You lack the permission datasources:create' },
  });
  const own = await source(maker, 'own');
  for (const unknown of [hidden, newId(), 'no-such'])
    expect(await maker.post('/suites', { name: 'x', datasourceIds: [own, unknown] })).toMatchObject({
      status: 404,
      body: { message: `There is no datasource ${unknown}` },
    });
  expect((await maker.get('/suites?q=x')).body.total, 'nothing was made').toBe(0);
  for (const body of [
    {},
    { name: '' },
    { name: 'x'.repeat(256) },
    { name: 'x', datasourceIds: Array(1001).fill(own) },
    { name: 'x', colour: 1 },
    { name: 'x', datasourceIds: [1, {}] },
  ])
    expect((await maker.post('/suites', body)).status).toBe(400);
  const { id } = await maker.creates('/suites', { name: 'made', datasourceIds: [own] });
  expect(await ann.put(`/suites/${id}`, { name: 'x' })).toMatchObject({
    status: 403,
    body: { message: 'You lack the permission suite:write' },
  });
  expect(await ann.delete(`/suites/${id}`)).toMatchObject({
    status: 403,
    body: { message: 'You lack the permission suite:delete' },
  });
  expect(await admin.put(`/suites/${id}`, { name: 'by a superuser' })).toMatchObject({
    status: 200,
    body: { datasources: [own] },
  });
  expect(await maker.delete(`/suites/${id}`)).toMatchObject({ status: 200, body: { success: true } });
  expect(await maker.get(`/suites/${id}`)).toMatchObject({ status: 404 });
  expect(await maker.get(`/datasources/${own}`)).toMatchObject({ status: 200 });
});

test('a change keeps the members that its maker does not see', async ({ admin, service }) => {
  const editor = await service.user('editor', { permissions: ['datasources:create'] });
  const [a, b, c] = [await source(editor, 'a'), await source(editor, 'b'), await source(editor, 'c')];
  const [unseen, lost] = [await source(admin, 'unseen'), await source(admin, 'lost')];
  await admin.put(`/datasources/${lost}/shares/editor`, { accessLevel: 1 });
  const { id } = await editor.creates('/suites', { name: 'mixed', datasourceIds: [lost, a, b] });
  await admin.put(`/suites/${id}`, { datasourceIds: [unseen, lost, a, b] });
  await admin.delete(`/datasources/${lost}/shares/editor`);

  const { body, headers } = await editor.get(`/suites/${id}`);
  expect(body.datasources).toEqual([a, b]);
  const changed = await editor.put(
    `/suites/${id}`,
    { ...body, datasources: [c, a] },
    { 'if-match': headers.get('etag')! },
  );
  expect(changed, 'an answer can be edited and sent back').toMatchObject({
    status: 200,
    body: { name: 'mixed', datasources: [c, a] },
  });
  expect((await admin.get(`/suites/${id}`)).body.datasources).toEqual([c, a, unseen, lost]);
  expect(
    await editor.put(`/suites/${id}`, { datasourceIds: [a] }, { 'if-match': headers.get('etag')! }),
    'other members are another version',
  ).toMatchObject({ status: 412 });
  expect(await editor.put(`/suites/${id}`, { datasourceIds: [unseen] })).toMatchObject({
    status: 404,
    body: { message: `There is no datasource ${unseen}` },
  });
  expect(await editor.put(`/suites/${id}`, { name: 'renamed', description: null })).toMatchObject({
    status: 200,
    body: { datasources: [c, a] },
  });
  expect(await editor.put(`/suites/${id}`, { datasourceIds: null })).toMatchObject({
    status: 200,
    body: { datasources: [] },
  });
  expect((await admin.get(`/suites/${id}`)).body.datasources).toEqual([unseen, lost]);
  expect(await admin.put(`/suites/${id}`, { datasourceIds: [] })).toMatchObject({
    status: 200,
    body: { datasources: [] },
  });
});

test('a datasource leaves its suites when it is deleted, and the suite stays without its creator', async ({
  admin,
  service,
}) => {
  const maker = await service.user('leaver', { permissions: ['datasources:create'] });
  const [stays, goes] = [await source(admin, 'stays'), await source(admin, 'goes')];
  await admin.put(`/datasources/${stays}/shares/leaver`, { accessLevel: 1 });
  const { id } = await maker.creates('/suites', { name: 'orphan', datasourceIds: [stays] });
  await admin.put(`/suites/${id}`, { datasourceIds: [goes, stays] });
  expect(await admin.delete(`/datasources/${goes}`)).toMatchObject({ status: 204 });
  expect(await admin.delete('/users/leaver')).toMatchObject({ status: 204 });
  expect((await admin.get(`/suites/${id}`)).body).toMatchObject({
    datasources: [stays],
    _embedded: { 'svc:datasource': [{ id: stays }] },
  });
});

test('two who change a suite at once leave the members of one of them', async ({ admin }) => {
  const ids = await Promise.all(Array.from({ length: 4 }, (_, n) => source(admin, `busy ${n}`)));
  const { id } = await admin.creates('/suites', { name: 'busy' });
  const orders = ids.map((_, n) => [...ids.slice(n), ...ids.slice(0, n)]);
  const answers = await Promise.all(orders.map((datasourceIds) => admin.put(`/suites/${id}`, { datasourceIds })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(orders).toContainEqual((await admin.get(`/suites/${id}`)).body.datasources);
});

test('the same in GraphQL', async ({ admin, ann }) => {
  const one = await source(admin, 'told');
  const { id } = (
    await admin.data(`mutation { createSuite(input: { name: "Told", datasourceIds: ["${one}"] }) { id } }`)
  ).createSuite;
  expect(
    await admin.data(
      `{ suite(id: "${id}") { name description datasources sources { slug owner { name } } permissions { write } } suites(q: "told") { total items { datasources } } node(id: "${id}") { ... on Suite { name } } }`,
    ),
  ).toEqual({
    suite: {
      name: 'Told',
      description: null,
      datasources: [one],
      sources: [{ slug: 'told', owner: { name: 'admin' } }],
      permissions: { write: true },
    },
    suites: { total: 1, items: [{ datasources: [one] }] },
    node: { name: 'Told' },
  });
  expect(await ann.data(`{ suite(id: "${id}") { datasources sources { id } } }`)).toEqual({
    suite: { datasources: [], sources: [] },
  });
  expect(
    await admin.data(`mutation { updateSuite(id: "${id}", input: { datasourceIds: [] }) { datasources } }`),
  ).toEqual({ updateSuite: { datasources: [] } });
  expect(await ann.gql(`mutation { deleteSuite(id: "${id}") }`)).toMatchObject({
    errors: [{ message: 'You lack the permission suite:delete', extensions: { code: 'FORBIDDEN' } }],
  });
  expect(await admin.data(`mutation { deleteSuite(id: "${id}") }`)).toEqual({ deleteSuite: id });
});
