import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { FIXTURES } from '../conformance/fixtures.ts';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';

const source = (client: Client, name: string): Promise<string> => FIXTURES['datasources']!.create(client, name);
const MAPPINGS = { 'orders.customer_id': 'customers.id' };

test('the types of links are listed', async ({ ann }) => {
  expect((await ann.get('/link-types')).body).toMatchObject({
    total: 2,
    _embedded: {
      'svc:link-type': [
        { id: 'foreign-key', name: 'Foreign key', description: expect.any(String) },
        { id: 'lookup', name: 'Lookup' },
      ],
    },
  });
  expect(await ann.data('{ linkTypes { id name } }')).toEqual({
    linkTypes: [
      { id: 'foreign-key', name: 'Foreign key' },
      { id: 'lookup', name: 'Lookup' },
    ],
  });
});

test('a datasource that one may write is linked to one that one may read', async ({ admin, ann, stranger }) => {
  const [from, to, hidden] = [await source(admin, 'from'), await source(admin, 'to'), await source(admin, 'hidden')];
  const link = { targetDatasourceId: to, type: 'foreign-key', mappings: MAPPINGS };
  expect(await ann.post(`/datasources/${from}/links`, link)).toMatchObject({
    status: 404,
    body: { message: `There is no datasource ${from}` },
  });
  await admin.put(`/datasources/${from}/shares/ann`, { accessLevel: 1 });
  expect(await ann.post(`/datasources/${from}/links`, link)).toMatchObject({
    status: 403,
    body: { message: 'You lack the permission datasource:write' },
  });
  await admin.put(`/datasources/${from}/shares/ann`, { accessLevel: 2 });
  for (const targetDatasourceId of [to, newId()])
    expect(await ann.post(`/datasources/${from}/links`, { ...link, targetDatasourceId })).toMatchObject({
      status: 404,
      body: { message: `There is no datasource ${targetDatasourceId}` },
    });
  await admin.put(`/datasources/${to}/shares/ann`, { accessLevel: 1 });
  const made = await ann.post(`/datasources/${from}/links`, link);
  expect(made).toMatchObject({
    status: 200,
    body: { sourceDatasourceId: from, targetDatasourceId: to, type: 'foreign-key', mappings: MAPPINGS },
  });
  const { id } = made.body;
  expect(made.body._links).toEqual({
    self: { href: `/api/datasources/${from}/links/${id}` },
    'svc:datasource': { href: `/api/datasources/${from}` },
    'svc:target': { href: `/api/datasources/${to}` },
  });

  const second = await admin.creates(`/datasources/${from}/links`, { targetDatasourceId: hidden, type: 'lookup' });
  expect(second).toMatchObject({ type: 'lookup', mappings: {} });
  const self = await admin.creates(`/datasources/from/links`, { targetDatasourceId: 'from', type: 'lookup' });
  expect(self, 'of itself').toMatchObject({ sourceDatasourceId: from, targetDatasourceId: from });

  expect((await admin.get(`/datasources/${from}/links`)).body).toMatchObject({
    total: 3,
    _embedded: { 'svc:link': [{ id }, { id: second.id }, { id: self.id }] },
  });
  expect((await ann.get(`/datasources/${from}/links`)).body, 'what one may not read is not told').toMatchObject({
    total: 2,
    _embedded: { 'svc:link': [{ id }, { id: self.id }] },
  });
  expect(await ann.get(`/datasources/${from}/links/${id}`)).toMatchObject({ status: 200, body: { id } });
  expect(await ann.get(`/datasources/${from}/links/${second.id}`)).toMatchObject({
    status: 404,
    body: { message: `There is no link ${second.id}` },
  });
  expect((await admin.get(`/datasources/${to}/links`)).body.total, 'links lead one way').toBe(0);
  expect(await admin.get(`/datasources/${to}/links/${id}`), 'a wrong parent').toMatchObject({ status: 404 });
  expect(await stranger.get(`/datasources/${from}/links`)).toMatchObject({ status: 404 });
});

test('a link that says nothing sensible is refused', async ({ admin }) => {
  const id = await source(admin, 'strict');
  const link = { targetDatasourceId: id, type: 'lookup' };
  const cases: [object, string][] = [
    [{ ...link, type: 'join' }, 'type'],
    [{ type: 'lookup' }, 'targetDatasourceId'],
    [{ targetDatasourceId: id }, 'type'],
    [{ ...link, mappings: { a: 1 } }, 'mappings.a must be the name of a field'],
    [{ ...link, mappings: { a: ' ' } }, 'mappings.a is required'],
    [{ ...link, mappings: { ' ': 'a' } }, 'mappings is required'],
    [{ ...link, mappings: { a: 'b'.repeat(256) } }, 'mappings.a must have at most 255'],
    [{ ...link, mappings: ['a'] }, 'mappings'],
    [
      { ...link, mappings: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`f${n}`, 'a'])) },
      'mappings must have at most 100 entries',
    ],
  ];
  for (const [body, message] of cases)
    expect(await admin.post(`/datasources/${id}/links`, body), message).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(message) },
    });
});

test('a link is taken away by who may write its source, and goes with either datasource', async ({ admin, bob }) => {
  const [from, to] = [await source(admin, 'leaving'), await source(admin, 'staying')];
  const make = async (one: string, other: string) =>
    (await admin.creates(`/datasources/${one}/links`, { targetDatasourceId: other, type: 'lookup' })).id as string;
  const [first, second, third] = [await make(from, to), await make(from, to), await make(to, from)];
  await admin.put(`/datasources/${from}/shares/bob`, { accessLevel: 1 });
  expect(await bob.delete(`/datasources/${from}/links/${first}`)).toMatchObject({
    status: 403,
    body: { message: 'You lack the permission datasource:write' },
  });
  expect(await admin.delete(`/datasources/${to}/links/${first}`)).toMatchObject({
    status: 404,
    body: { message: `There is no link ${first}` },
  });
  expect(await admin.delete(`/datasources/${from}/links/${first}`)).toMatchObject({
    status: 200,
    body: { success: true },
  });
  for (const gone of [first, 'no-uuid'])
    expect(await admin.delete(`/datasources/${from}/links/${gone}`)).toMatchObject({ status: 404 });
  expect(await admin.delete(`/datasources/${from}`), 'links keep nobody from deleting').toMatchObject({ status: 204 });
  expect((await admin.get(`/datasources/${to}/links`)).body.total).toBe(0);
  for (const id of [second, third])
    expect(await admin.get(`/datasources/${to}/links/${id}`)).toMatchObject({ status: 404 });
});

test('the same in GraphQL', async ({ admin, ann }) => {
  const [from, to] = [await source(admin, 'told from'), await source(admin, 'told to')];
  const made = (
    await admin.data(
      `mutation ($m: JSONObject) { createDatasourceLink(id: "${from}", input: { targetDatasourceId: "${to}", type: FOREIGN_KEY, mappings: $m }) { id type mappings target { name } } }`,
      { m: MAPPINGS },
    )
  ).createDatasourceLink;
  expect(made).toEqual({
    id: expect.any(String),
    type: 'FOREIGN_KEY',
    mappings: MAPPINGS,
    target: { name: 'told to' },
  });
  await admin.put(`/datasources/${from}/shares/ann`, { accessLevel: 3 });
  expect(await ann.data(`{ datasource(id: "${from}") { links { id } } }`)).toEqual({ datasource: { links: [] } });
  expect(
    await admin.data(
      `{ datasource(id: "${from}") { links { id target { slug } } link(linkId: "${made.id}") { sourceDatasourceId } } }`,
    ),
  ).toEqual({
    datasource: { links: [{ id: made.id, target: { slug: 'told-to' } }], link: { sourceDatasourceId: from } },
  });
  expect(await ann.gql(`{ datasource(id: "${from}") { link(linkId: "${made.id}") { id } } }`)).toMatchObject({
    errors: [{ extensions: { code: 'NOT_FOUND' } }],
  });
  expect(await admin.data(`mutation { deleteDatasourceLink(id: "${from}", linkId: "${made.id}") }`)).toEqual({
    deleteDatasourceLink: made.id,
  });
});
