import { createClient } from 'graphql-ws';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import type { ApiResponse, Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { ORDERS_QUERY, test } from '../support/shop-fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createOrders, createTeam, recordsOf } from './dataset-fixture.ts';

const idsOf = (page: ApiResponse['body']): string[] =>
  page._embedded['svc:dataset'].map(({ id }: { id: string }) => id);

test('a dataset has no rows, fields or index before its first refresh', async ({ ann, source }) => {
  const dataset = await createOrders(ann, source);
  expect(dataset).toMatchObject({
    slug: 'orders',
    naturalId: 'default:orders',
    ownerId: ann.id,
    datasourceId: source.id,
    query: ORDERS_QUERY,
    params: [],
    flow: [],
    fields: [],
    records: 0,
    size: 0,
    sizeFormatted: '0 B',
    esIndex: null,
    lastRefresh: null,
    dataUpdatedAt: null,
    parentId: null,
    isDraft: false,
    isSnapshot: false,
    hasUserSettings: false,
    permissions: { read: true, refresh: true, delete: true },
  });
  await expectBody(ann.get(`/datasets/${dataset.id}/data`), 200, {
    _embedded: { 'svc:record': [] },
    start: 0,
    count: 0,
    total: 0,
    fields: [],
    next: null,
  });
  expect(idsOf((await ann.get('/datasets')).body)).toContain(dataset.id);
});

test('a dataset has either a saved query or a query of its own', async ({ ann, source }) => {
  const savedQuery = await ann.creates('/queries', { name: 'Q', datasourceId: source.id, query: 'select 1 as one' });
  const create = (input: object) => ann.post('/datasets', { name: 'X', ...input });
  const own = { datasourceId: source.id, query: 'select 1' };
  await expectError(create({ queryId: savedQuery.id, ...own }), 400);
  await expectError(create({}), 400);
  await expectError(create({ query: 'select 1' }), 400, 'datasourceId is required');
  await expectError(create({ queryId: UNKNOWN_ID }), 404);
  await expectError(create({ ...own, query: 'select {{x}}' }), 400, /\{\{x\}\}/);
  await expectError(create({ ...own, flow: [{ type: 'shuffle' }] }), 400, /unknown step/);
});

test('a dataset on a datasource that the caller cannot read is refused', async ({ bob, source }) => {
  const input = { name: 'X', datasourceId: source.id, query: 'select 1' };
  await expectError(bob.post('/datasets', input), 404, new RegExp(source.id));
});

test('labels survive a refresh, and unknown fields cannot be labelled', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source, { refresh: true });
  const path = `/datasets/${id}`;
  const label = { name: 'amount', label: 'Amount', description: 'In EUR' };
  const updated = await ann.put(path, { fields: [label] });
  expect(updated.body.fields[2]).toMatchObject({ ...label, type: 'number' });

  await ann.post(`${path}/_refresh`);
  const refreshed = await ann.get(path);
  expect(refreshed.body.fields[2]).toMatchObject({ label: 'Amount', description: 'In EUR' });
  await expectError(ann.put(path, { fields: [{ name: 'colour', label: 'x' }] }), 400, /"colour"/);

  const reset = await ann.put(path, { fields: [{ name: 'amount', label: null }] });
  expect(reset.body.fields[2].label).toBe('amount');
});

test('a response can be sent back, and identity fields cannot be changed', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source, { refresh: true });
  const path = `/datasets/${id}`;
  const { body } = await ann.get(path);
  await expectBody(ann.put(path, { ...body, name: 'Renamed' }), 200, {
    name: 'Renamed',
    slug: body.slug,
    query: body.query,
    fields: body.fields,
  });
  const identity = { id: 'x', tenant: 'other', naturalId: 'default:x', createdAt: '2020-01-01T00:00:00.000Z' };
  for (const [name, value] of Object.entries(identity))
    await expectError(ann.put(path, { [name]: value }), 400, new RegExp(name));
  await expectError(ann.put(path, { colour: 'red' }), 400, /colour/);
});

test('query, params, flow and esIndex are visible only to a user who may write', async ({
  admin,
  ann,
  bob,
  source,
}) => {
  const teamId = await createTeam(admin, 'Analysts', { ann: 'memberPlus', bob: 'member' });
  const { id } = await createOrders(ann, source, { refresh: true });
  const path = `/datasets/${id}`;
  await ann.put(path, { ownerId: `team:${teamId}` });
  await expectBody(ann.get(path), 200, {
    ownerId: `team:${teamId}`,
    query: ORDERS_QUERY,
    params: [],
    flow: [],
    permissions: { write: true, share: false },
  });
  await expectBody(bob.get(path), 200, {
    query: null,
    params: null,
    flow: null,
    esIndex: null,
    records: 20,
    permissions: { read: true, copy: true, write: false, refresh: false },
  });
  await expectError(bob.post(`${path}/_refresh`), 403, /dataset:refresh/);
  await expectError(bob.post(`${path}/_run`), 403);
  expect(recordsOf((await bob.get(`${path}/data?limit=1`)).body)).toHaveLength(1);
  // The team has no access to ann's datasource.
  await expectError(ann.post(`${path}/_refresh`), 403);
});

test('datasets of other users and tenants do not exist', async ({ ann, bob, stranger, source }) => {
  const { id } = await createOrders(ann, source);
  const path = `/datasets/${id}`;
  for (const other of [bob, stranger]) {
    for (const child of ['', '/data', '/discover', '/permissions', '/export?format=csv'])
      await expectError(other.get(path + child), 404);
    for (const action of ['_run', '_refresh', '_refresh-internal', '_syncFields', '_search'])
      await expectError(other.post(`${path}/${action}`), 404);
    await expectError(other.put(path, { name: 'X' }), 404);
    await expectError(other.delete(path), 404);
  }
});

test('a dataset follows its saved query', async ({ ann, source }) => {
  const params = [{ name: 'maxId', dataType: 'number', defaultValue: 3 }];
  const query = 'select id from orders where id <= {{maxId}}';
  const savedQuery = await ann.creates('/queries', { name: 'Live', datasourceId: source.id, query, params });
  const { id } = await ann.creates('/datasets', { name: 'Follower', queryId: savedQuery.id, refresh: true });
  const path = `/datasets/${id}`;
  await expectBody(ann.get(path), 200, {
    records: 3,
    queryId: savedQuery.id,
    datasourceId: source.id,
    query,
    params: [{ name: 'maxId', defaultValue: 3 }],
  });

  await ann.put(`/queries/${savedQuery.id}`, { query: 'select id, note from orders where id <= {{maxId}}' });
  await expectBody(ann.post(`${path}/_refresh`, { params: { maxId: 5 } }), 200, {
    records: 5,
    previousRecordCount: 3,
    fieldsAdded: 1,
  });

  const { body } = await ann.get(path);
  await expectBody(ann.put(path, body), 200, { queryId: savedQuery.id });
  await expectError(ann.put(path, { query: 'select 1 as one' }), 400);
  await expectBody(ann.put(path, { queryId: null, query: 'select 1 as one', params: [] }), 200, {
    queryId: null,
    query: 'select 1 as one',
    datasourceId: source.id,
  });
});

test('fields are synchronized without the rows', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source, { refresh: true, fields: [{ name: 'id', label: 'Number' }] });
  await ann.put(`/datasets/${id}`, { query: 'select id, amount::integer as amount, 1 as extra from orders' });
  await expectBody(ann.post(`/datasets/${id}/_syncFields`), 200, {
    fieldsAdded: 1,
    fieldsUpdated: 1,
    fieldsRemoved: 3,
    fields: [{ name: 'id', label: 'Number', type: 'integer' }, { name: 'amount', type: 'integer' }, { name: 'extra' }],
  });
  const { fields } = (await ann.get(`/datasets/${id}/data?limit=1`)).body;
  expect(fields).toMatchObject([{ name: 'id' }, { name: 'amount', type: 'number' }]);
});

/** Subscribes to the updates of a dataset. */
const subscribe = (subscriber: Client, key: string) =>
  createClient({
    url: `${subscriber.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: subscriber.headers.authorization },
  }).iterate<{ datasetUpdated: { id: string; records: number } }>({
    query: `subscription { datasetUpdated(id: "${key}") { id records } }`,
  });

test('a subscription sends the dataset, again when its rows are replaced, and ends when it is deleted', async ({
  ann,
  bob,
  source,
}) => {
  const { id, slug } = await createOrders(ann, source);
  const updates = subscribe(ann, slug);
  const first = await updates.next();
  expect(first.value).toEqual({ data: { datasetUpdated: { id, records: 0 } } });

  const second = updates.next();
  await ann.post(`/datasets/${id}/_refresh`);
  expect((await second).value).toEqual({ data: { datasetUpdated: { id, records: 20 } } });

  const refused = await subscribe(bob, slug)
    .next()
    .then(
      ({ value }) => value as { errors: { extensions: object }[] },
      (errors) => ({ errors }),
    );
  expect(refused).toMatchObject({ errors: [{ extensions: { code: 'NOT_FOUND' } }] });

  const last = updates.next();
  await ann.delete(`/datasets/${id}`);
  expect(await last).toMatchObject({ done: true });
});

test('a deleted dataset does not exist, nor do its rows', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source, { refresh: true });
  expect(await ann.delete(`/datasets/${id}`)).toMatchObject({ status: 204 });
  await expectError(ann.get(`/datasets/${id}`), 404);
  await expectError(ann.get(`/datasets/${id}/data`), 404);
});

test('the list is filtered, sorted and paged', async ({ ann, bob, source }) => {
  const { id } = await createOrders(ann, source, { name: 'Zebra crossings' });
  expect(idsOf((await ann.get('/datasets?q=zebra')).body)).toEqual([id]);
  expect(idsOf((await ann.get('/datasets?sort=-name&limit=1')).body)).toEqual([id]);
  expect(idsOf((await ann.get(`/datasets?ownerId=${bob.id}`)).body)).toEqual([]);
});
