import { expect } from 'vitest';
import { makeSource, test } from '../support/shop-fixture.ts';

const BY_REGION = {
  name: 'Orders by region',
  query: 'select id, amount from orders where region = {{region}} and amount >= {{least}} order by id',
  params: [
    { name: 'region', dataType: 'string', required: true },
    { name: 'least', dataType: 'number', defaultValue: 100 },
  ],
};

test('a saved query runs with its defaults and with overrides', async ({ ann, source }) => {
  const query = await ann.creates('/queries', { ...BY_REGION, datasourceId: source.id });
  expect(query).toMatchObject({
    slug: 'orders-by-region',
    language: 'sql',
    datasourceId: source.id,
    query: BY_REGION.query,
    ownerId: ann.id,
    permissions: { run: true },
  });
  const run = (params: object) => ann.post(`/queries/${query.slug}/_run`, { params });
  expect((await run({ region: 'EU' })).body).toMatchObject({
    truncated: false,
    rows: [{ id: 12 }, { id: 16 }, { id: 20 }],
  });
  expect((await run({ region: 'EU', least: 200 })).body.rows).toMatchObject([{ id: 20 }]);
  expect(await run({})).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('"region" is required') },
  });
  expect(await run({ region: 'EU', most: 1 })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('"most"') },
  });
  expect(await run({ region: 7 })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('"region"') },
  });
});

test('a record says what the query answers with, as far as the source could tell', async ({ ann, source }) => {
  const { id } = await ann.creates('/queries', {
    name: 'Twice',
    datasourceId: source.id,
    query: 'select id, id from orders',
  });
  expect((await ann.get(`/queries/${id}`)).body.fields).toMatchObject([
    { name: 'id', type: 'integer' },
    { name: 'id_2', type: 'integer' },
  ]);
  expect((await ann.put(`/queries/${id}`, { query: 'select region from orders' })).body.fields).toMatchObject([
    { name: 'region', type: 'string' },
  ]);
  expect(await ann.put(`/queries/${id}`, { query: 'select nothing from nowhere' })).toMatchObject({
    status: 200,
    body: { fields: [] },
  });
});

test('a placeholder without a definition is refused when it is saved', async ({ ann, source }) => {
  const post = (more: object) => ann.post('/queries', { name: 'X', datasourceId: source.id, ...more });
  expect(await post({ query: 'select {{x}}' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('{{x}}') },
  });
  expect(await post({ query: '  ' })).toMatchObject({ status: 400, body: { message: 'query is required' } });
  expect(await post({ query: 'select 1', language: 'mdx' })).toMatchObject({ status: 400 });
  expect(await post({ query: `select '{{x}}'`, params: [{ name: 'x', dataType: 'string' }] })).toMatchObject({
    status: 400,
  });
});

test('an answer can be sent back', async ({ ann, source }) => {
  const made = await ann.creates('/queries', { ...BY_REGION, name: 'Back', datasourceId: source.id });
  const { body } = await ann.get(`/queries/${made.id}`);
  expect(await ann.put(`/queries/${made.id}`, { ...body, name: 'And forth' })).toMatchObject({
    status: 200,
    body: { name: 'And forth', params: body.params },
  });
});

test('nobody saves a query on a datasource that they may not read', async ({ bob, source }) => {
  expect(await bob.post('/queries', { name: 'X', datasourceId: source.id, query: 'select 1' })).toMatchObject({
    status: 404,
    body: { message: expect.stringContaining(source.id) },
  });
});

test('a query runs on its owner’s right to the datasource', async ({ admin, ann, bob, shop }) => {
  const { id } = await makeSource(admin, shop, { ownerId: ann.id });
  const query = await ann.creates('/queries', { name: 'Given', datasourceId: id, query: 'select 1 as one' });
  await ann.put(`/queries/${query.id}`, { ownerId: bob.id });
  expect(await ann.get(`/queries/${query.id}`)).toMatchObject({ status: 404 });
  expect(await bob.post(`/queries/${query.id}/_run`, {})).toMatchObject({ status: 403 });
  await admin.put(`/datasources/${id}`, { ownerId: bob.id });
  expect((await bob.post(`/queries/${query.id}/_run`, {})).body.rows).toEqual([{ one: 1 }]);
});

test('a query that a dataset follows is not deleted', async ({ ann, source }) => {
  const query = await ann.creates('/queries', { name: 'Followed', datasourceId: source.id, query: 'select 1 as one' });
  const dataset = await ann.creates('/datasets', { name: 'Follower', queryId: query.id });
  expect(await ann.delete(`/queries/${query.id}`)).toMatchObject({
    status: 409,
    body: { message: 'The query is in use by dataset "Follower"' },
  });
  await ann.delete(`/datasets/${dataset.id}`);
  expect(await ann.delete(`/queries/${query.id}`)).toMatchObject({ status: 204 });
});
