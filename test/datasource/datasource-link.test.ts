import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { FIXTURES } from '../conformance/fixtures.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';

const createSource = (client: Client, name: string): Promise<string> => FIXTURES['datasources']!.create(client, name);
const share = (admin: Client, id: string, user: Client, accessLevel: number) =>
  admin.put(`/datasources/${id}/shares/${user.username}`, { accessLevel });
const linksOf = async (client: Client, id: string) => (await client.get(`/datasources/${id}/links`)).body;

const MAPPINGS = { 'orders.customer_id': 'customers.id' };
const LACKS_WRITE = 'You lack the permission datasource:write';

test('the link types are listed', async ({ ann }) => {
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

test('a link requires write access to its source and read access to its target', async ({ admin, ann }) => {
  const [from, to] = [await createSource(admin, 'guarded source'), await createSource(admin, 'guarded target')];
  const post = (targetDatasourceId: string) =>
    ann.post(`/datasources/${from}/links`, { targetDatasourceId, type: 'foreign-key', mappings: MAPPINGS });
  await expectError(post(to), 404, `There is no datasource ${from}`);
  await share(admin, from, ann, 1);
  await expectError(post(to), 403, LACKS_WRITE);
  await share(admin, from, ann, 2);
  for (const target of [to, newId()]) await expectError(post(target), 404, `There is no datasource ${target}`);

  await share(admin, to, ann, 1);
  const link = await expectBody(post(to), 200, {
    sourceDatasourceId: from,
    targetDatasourceId: to,
    type: 'foreign-key',
    mappings: MAPPINGS,
  });
  expect(link._links).toMatchObject({
    self: { href: `/api/datasources/${from}/links/${link.id}` },
    'svc:datasource': { href: `/api/datasources/${from}` },
    'svc:target': { href: `/api/datasources/${to}` },
  });
});

test('links are listed with their source, without those to datasources that the caller cannot read', async ({
  admin,
  ann,
  stranger,
}) => {
  const from = await createSource(admin, 'from');
  const [to, hidden] = [await createSource(admin, 'to'), await createSource(admin, 'hidden')];
  await share(admin, from, ann, 2);
  await share(admin, to, ann, 1);
  const { id } = await ann.creates(`/datasources/${from}/links`, { targetDatasourceId: to, type: 'foreign-key' });
  const toHidden = await admin.creates(`/datasources/${from}/links`, { targetDatasourceId: hidden, type: 'lookup' });
  expect(toHidden).toMatchObject({ type: 'lookup', mappings: {} });
  const toItself = await admin.creates(`/datasources/from/links`, { targetDatasourceId: 'from', type: 'lookup' });
  expect(toItself).toMatchObject({ sourceDatasourceId: from, targetDatasourceId: from });

  expect(await linksOf(admin, from)).toMatchObject({
    total: 3,
    _embedded: { 'svc:link': [{ id }, { id: toHidden.id }, { id: toItself.id }] },
  });
  expect(await linksOf(ann, from)).toMatchObject({
    total: 2,
    _embedded: { 'svc:link': [{ id }, { id: toItself.id }] },
  });
  await expectBody(ann.get(`/datasources/${from}/links/${id}`), 200, { id });
  await expectError(ann.get(`/datasources/${from}/links/${toHidden.id}`), 404, `There is no link ${toHidden.id}`);
  expect((await linksOf(admin, to)).total, 'links are listed with their source only').toBe(0);
  await expectError(admin.get(`/datasources/${to}/links/${id}`), 404);
  await expectError(stranger.get(`/datasources/${from}/links`), 404);
});

test('an invalid link is refused', async ({ admin }) => {
  const id = await createSource(admin, 'strict');
  const valid = { targetDatasourceId: id, type: 'lookup' };
  const manyMappings = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`f${n}`, 'a']));
  const cases: [object, RegExp][] = [
    [{ ...valid, type: 'join' }, /type/],
    [{ type: 'lookup' }, /targetDatasourceId/],
    [{ targetDatasourceId: id }, /type/],
    [{ ...valid, mappings: { a: 1 } }, /mappings\.a must be the name of a field/],
    [{ ...valid, mappings: { a: ' ' } }, /mappings\.a must not be empty/],
    [{ ...valid, mappings: { ' ': 'a' } }, /mappings must not be empty/],
    [{ ...valid, mappings: { a: 'b'.repeat(256) } }, /mappings\.a must have at most 255/],
    [{ ...valid, mappings: ['a'] }, /mappings/],
    [{ ...valid, mappings: manyMappings }, /mappings must have at most 100 entries/],
  ];
  for (const [input, message] of cases) await expectError(admin.post(`/datasources/${id}/links`, input), 400, message);
});

test('a link is deleted with write access to its source, or with either of its datasources', async ({ admin, bob }) => {
  const [from, to] = [await createSource(admin, 'deleted'), await createSource(admin, 'staying')];
  const link = async (source: string, targetDatasourceId: string): Promise<string> =>
    (await admin.creates(`/datasources/${source}/links`, { targetDatasourceId, type: 'lookup' })).id;
  const [first, second, third] = [await link(from, to), await link(from, to), await link(to, from)];

  await share(admin, from, bob, 1);
  await expectError(bob.delete(`/datasources/${from}/links/${first}`), 403, LACKS_WRITE);
  await expectError(admin.delete(`/datasources/${to}/links/${first}`), 404, `There is no link ${first}`);
  await expectBody(admin.delete(`/datasources/${from}/links/${first}`), 200, { success: true });
  for (const unknown of [first, 'no-uuid']) {
    await expectError(admin.delete(`/datasources/${from}/links/${unknown}`), 404);
  }

  expect((await admin.delete(`/datasources/${from}`)).status, 'links do not count as usage').toBe(204);
  expect((await linksOf(admin, to)).total).toBe(0);
  for (const deleted of [second, third]) await expectError(admin.get(`/datasources/${to}/links/${deleted}`), 404);
});

test('links in GraphQL', async ({ admin, ann }) => {
  const [from, to] = [await createSource(admin, 'graphql from'), await createSource(admin, 'graphql to')];
  const { createDatasourceLink } = await admin.data(
    `mutation ($mappings: JSONObject) {
      createDatasourceLink(id: "${from}", input: {
        targetDatasourceId: "${to}", type: FOREIGN_KEY, mappings: $mappings
      }) { id type mappings target { name } }
    }`,
    { mappings: MAPPINGS },
  );
  expect(createDatasourceLink).toEqual({
    id: expect.any(String),
    type: 'FOREIGN_KEY',
    mappings: MAPPINGS,
    target: { name: 'graphql to' },
  });
  const { id } = createDatasourceLink;

  await share(admin, from, ann, 3);
  expect(await ann.data(`{ datasource(id: "${from}") { links { id } } }`)).toEqual({ datasource: { links: [] } });
  const query = `{ datasource(id: "${from}") {
    links { id target { slug } }
    link(linkId: "${id}") { sourceDatasourceId }
  } }`;
  expect(await admin.data(query)).toEqual({
    datasource: { links: [{ id, target: { slug: 'graphql-to' } }], link: { sourceDatasourceId: from } },
  });
  await expectGraphqlError(ann.gql(`{ datasource(id: "${from}") { link(linkId: "${id}") { id } } }`), 'NOT_FOUND');
  expect(await admin.data(`mutation { deleteDatasourceLink(id: "${from}", linkId: "${id}") }`)).toEqual({
    deleteDatasourceLink: id,
  });
});
