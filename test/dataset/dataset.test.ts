import { createClient } from 'graphql-ws';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import type { Client } from '../support/client.ts';
import { makeSource, ORDERS_QUERY, test } from '../support/shop-fixture.ts';

const orders = (owner: Client, source: { id: string }, more: object = {}) =>
  owner.creates('/datasets', { name: 'Orders', datasourceId: source.id, query: ORDERS_QUERY, ...more });
const ids = (body: { _embedded: Record<string, { id: string }[]> }) =>
  body._embedded['svc:dataset']!.map(({ id }) => id);

test('a dataset has no rows, fields or index before its first refresh', async ({ ann, source }) => {
  const made = await orders(ann, source);
  expect(made).toMatchObject({
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
  expect((await ann.get(`/datasets/${made.id}/data`)).body).toMatchObject({
    _embedded: { 'svc:record': [] },
    start: 0,
    count: 0,
    total: 0,
    fields: [],
    next: null,
  });
  expect(ids((await ann.get('/datasets')).body)).toContain(made.id);
});

test('a dataset takes a saved query or a query of its own, not both and not neither', async ({ ann, source }) => {
  const query = await ann.creates('/queries', { name: 'Q', datasourceId: source.id, query: 'select 1 as one' });
  const post = (more: object) => ann.post('/datasets', { name: 'X', ...more });
  expect(await post({ queryId: query.id, datasourceId: source.id, query: 'select 1' })).toMatchObject({ status: 400 });
  expect(await post({})).toMatchObject({ status: 400 });
  expect(await post({ query: 'select 1' })).toMatchObject({
    status: 400,
    body: { message: 'datasourceId is required' },
  });
  expect(await post({ queryId: '01890000-0000-7000-8000-000000000000' })).toMatchObject({ status: 404 });
  expect(await post({ datasourceId: source.id, query: 'select {{x}}' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('{{x}}') },
  });
  expect(await post({ datasourceId: source.id, query: 'select 1', flow: [{ type: 'shuffle' }] })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('unknown step') },
  });
});

test('a refresh loads the rows, and the answer counts them', async ({ ann, source }) => {
  const made = await orders(ann, source);
  const { status, body } = await ann.post(`/datasets/${made.id}/_refresh`, {});
  expect(status).toBe(200);
  expect(body).toEqual({
    id: made.id,
    records: 20,
    previousRecordCount: 0,
    duration: expect.any(Number),
    fieldsAdded: 5,
    fieldsUpdated: 0,
    fieldsRemoved: 0,
    dataUpdatedAt: expect.any(String),
    success: true,
  });
  const after = (await ann.get(`/datasets/${made.id}`)).body;
  expect(after).toMatchObject({
    records: 20,
    esIndex: expect.any(String),
    dataUpdatedAt: body.dataUpdatedAt,
    lastRefresh: { success: true, error: null, at: body.dataUpdatedAt },
  });
  expect(after.sizeFormatted).toMatch(/^\d+(\.\d)? (B|kB|MB)$/);
  expect(after.fields.map(({ name, type }: { name: string; type: string }) => [name, type])).toEqual([
    ['id', 'integer'],
    ['region', 'string'],
    ['amount', 'number'],
    ['ordered_on', 'date'],
    ['note', 'string'],
  ]);
});

test('with refresh: true the rows are there when the dataset is', async ({ ann, source }) => {
  expect(
    await orders(ann, source, { refresh: true, fields: [{ name: 'amount', label: 'Amount in EUR' }] }),
  ).toMatchObject({
    records: 20,
    fields: expect.arrayContaining([expect.objectContaining({ name: 'amount', label: 'Amount in EUR' })]),
  });
  expect(await orders(ann, source, { query: 'select nothing', refresh: true })).toMatchObject({
    records: 0,
    lastRefresh: { success: false, error: expect.stringContaining('nothing') },
  });
});

test('a client that does not wait follows the operation', async ({ ann, source }) => {
  const made = await orders(ann, source);
  const { status, headers, body } = await ann.post(
    `/datasets/${made.id}/_refresh`,
    { progress: 'mine' },
    { prefer: 'respond-async' },
  );
  expect(status).toBe(202);
  expect(body).toMatchObject({
    operation: 'dataset.refresh',
    progress: 'mine',
    resource: { kind: 'dataset', id: made.id },
  });
  expect(headers.get('location')).toBe(`/api/progress/${body.id}`);
  await expect
    .poll(async () => (await ann.get(`/progress/${body.id}`)).body.status, { timeout: 20_000 })
    .toBe('succeeded');
  expect((await ann.get(`/progress/${body.id}`)).body.result).toMatchObject({ records: 20 });
});

test('GraphQL waits for the result, or answers the operation', async ({ ann, source }) => {
  const { id } = await orders(ann, source);
  const text = `mutation ($wait: Boolean) { refreshDataset(id: "${id}", wait: $wait) { operation { status percent } result { records success } } }`;
  expect((await ann.data(text, { wait: true })).refreshDataset).toEqual({
    operation: { status: 'SUCCEEDED', percent: 100 },
    result: { records: 20, success: true },
  });
  expect((await ann.data(text, { wait: false })).refreshDataset).toMatchObject({ result: null });
});

test('what a refresh can know before it begins is refused before', async ({ ann, source }) => {
  const { id } = await orders(ann, source, {
    query: 'select {{region}}::text as region',
    params: [{ name: 'region', dataType: 'string', required: true }],
  });
  expect(await ann.post(`/datasets/${id}/_refresh`, {})).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('"region"') },
  });
  expect(await ann.post(`/datasets/${id}/_refresh`, { params: { area: 'EU' } })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('"area"') },
  });
  expect(await ann.post(`/datasets/${id}/_refresh`, { progress: '' })).toMatchObject({ status: 400 });
  expect(await ann.post(`/datasets/${id}/_refresh`, { params: { region: 'EU' } })).toMatchObject({
    status: 200,
    body: { records: 1 },
  });
});

test('a refresh that fails leaves the old rows and says why', async ({ ann, source, shop }) => {
  const { id } = await orders(ann, source, { query: 'select 100 / (select divisor from odds) as x' });
  await shop.sql('create table odds as select 4 as divisor');
  await ann.post(`/datasets/${id}/_refresh`);
  const before = (await ann.get(`/datasets/${id}`)).body;
  await shop.sql('update odds set divisor = 0');
  expect((await ann.post(`/datasets/${id}/_refresh`)).body).toMatchObject({
    message: expect.stringContaining('division by zero'),
  });
  const after = (await ann.get(`/datasets/${id}`)).body;
  expect(after).toMatchObject({
    records: 1,
    esIndex: before.esIndex,
    dataUpdatedAt: before.dataUpdatedAt,
    lastRefresh: { success: false, error: expect.stringContaining('division by zero') },
  });
  expect((await ann.get(`/datasets/${id}/data`)).body._embedded['svc:record']).toEqual([{ x: 25 }]);
});

test('labels survive a refresh, and unknown fields are not labelled', async ({ ann, source }) => {
  const { id } = await orders(ann, source, { refresh: true });
  const put = await ann.put(`/datasets/${id}`, {
    fields: [{ name: 'amount', label: 'Amount', description: 'In EUR' }],
  });
  expect(put.body.fields[2]).toMatchObject({ name: 'amount', label: 'Amount', description: 'In EUR', type: 'number' });
  await ann.post(`/datasets/${id}/_refresh`);
  expect((await ann.get(`/datasets/${id}`)).body.fields[2]).toMatchObject({ label: 'Amount', description: 'In EUR' });
  expect(await ann.put(`/datasets/${id}`, { fields: [{ name: 'colour', label: 'x' }] })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('"colour"') },
  });
  expect((await ann.put(`/datasets/${id}`, { fields: [{ name: 'amount', label: null }] })).body.fields[2].label).toBe(
    'amount',
  );
});

test('an answer can be sent back, and identity fields cannot be changed', async ({ ann, source }) => {
  const made = await orders(ann, source, { refresh: true });
  const { body } = await ann.get(`/datasets/${made.id}`);
  expect(await ann.put(`/datasets/${made.id}`, { ...body, name: 'Renamed' })).toMatchObject({
    status: 200,
    body: { name: 'Renamed', slug: body.slug, query: body.query, fields: body.fields },
  });
  for (const change of [
    { id: 'x' },
    { tenant: 'other' },
    { naturalId: 'default:x' },
    { createdAt: '2020-01-01T00:00:00.000Z' },
  ]) {
    expect(await ann.put(`/datasets/${made.id}`, change), JSON.stringify(change)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(Object.keys(change)[0]!) },
    });
  }
  expect(await ann.put(`/datasets/${made.id}`, { colour: 'red' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('colour') },
  });
});

test('query, params, flow and esIndex are shown to who may write, and to nobody else', async ({
  admin,
  ann,
  bob,
  source,
}) => {
  const team = await admin.creates('/teams', { name: 'Analysts' });
  await admin.put(`/teams/${team.id}/members/ann`, { role: 'memberPlus' });
  await admin.put(`/teams/${team.id}/members/bob`, { role: 'member' });
  const { id } = await orders(ann, source, { refresh: true });
  await ann.put(`/datasets/${id}`, { ownerId: `team:${team.id}` });
  expect((await ann.get(`/datasets/${id}`)).body).toMatchObject({
    ownerId: `team:${team.id}`,
    query: ORDERS_QUERY,
    params: [],
    flow: [],
    permissions: { write: true, share: false },
  });
  expect((await bob.get(`/datasets/${id}`)).body).toMatchObject({
    query: null,
    params: null,
    flow: null,
    esIndex: null,
    records: 20,
    permissions: { read: true, copy: true, write: false, refresh: false },
  });
  expect(await bob.post(`/datasets/${id}/_refresh`)).toMatchObject({
    status: 403,
    body: { message: expect.stringContaining('dataset:refresh') },
  });
  expect(await bob.post(`/datasets/${id}/_run`)).toMatchObject({ status: 403 });
  expect((await bob.get(`/datasets/${id}/data?limit=1`)).body._embedded['svc:record']).toHaveLength(1);
  expect((await ann.post(`/datasets/${id}/_refresh`)).status).toBe(403); // the team has no right to ann’s datasource
});

test('others’ datasets do not exist, nor another tenant’s', async ({ ann, bob, stranger, source }) => {
  const { id } = await orders(ann, source);
  for (const other of [bob, stranger]) {
    for (const path of ['', '/data', '/discover', '/permissions', '/export?format=csv'])
      expect(await other.get(`/datasets/${id}${path}`), path).toMatchObject({ status: 404 });
    for (const path of ['_run', '_refresh', '_refresh-internal', '_syncFields', '_search'])
      expect(await other.post(`/datasets/${id}/${path}`), path).toMatchObject({ status: 404 });
    expect(await other.put(`/datasets/${id}`, { name: 'X' })).toMatchObject({ status: 404 });
    expect(await other.delete(`/datasets/${id}`)).toMatchObject({ status: 404 });
  }
});

test('nobody builds on a datasource that they may not read', async ({ bob, source }) => {
  expect(await bob.post('/datasets', { name: 'X', datasourceId: source.id, query: 'select 1' })).toMatchObject({
    status: 404,
    body: { message: expect.stringContaining(source.id) },
  });
});

test('a dataset follows its saved query', async ({ ann, source }) => {
  const query = await ann.creates('/queries', {
    name: 'Live',
    datasourceId: source.id,
    query: 'select id from orders where id <= {{most}}',
    params: [{ name: 'most', dataType: 'number', defaultValue: 3 }],
  });
  const { id } = await ann.creates('/datasets', { name: 'Follower', queryId: query.id, refresh: true });
  expect((await ann.get(`/datasets/${id}`)).body).toMatchObject({
    records: 3,
    queryId: query.id,
    datasourceId: source.id,
    query: 'select id from orders where id <= {{most}}',
    params: [{ name: 'most', defaultValue: 3 }],
  });
  await ann.put(`/queries/${query.id}`, { query: 'select id, note from orders where id <= {{most}}' });
  expect((await ann.post(`/datasets/${id}/_refresh`, { params: { most: 5 } })).body).toMatchObject({
    records: 5,
    previousRecordCount: 3,
    fieldsAdded: 1,
  });

  const { body } = await ann.get(`/datasets/${id}`);
  expect(await ann.put(`/datasets/${id}`, body)).toMatchObject({ status: 200, body: { queryId: query.id } });
  expect(await ann.put(`/datasets/${id}`, { query: 'select 1 as one' })).toMatchObject({ status: 400 });
  expect(
    (await ann.put(`/datasets/${id}`, { queryId: null, query: 'select 1 as one', params: [] })).body,
  ).toMatchObject({ queryId: null, query: 'select 1 as one', datasourceId: source.id });
});

test('superusers refresh without the owner’s right to the datasource, nobody else', async ({
  admin,
  ann,
  bob,
  shop,
}) => {
  const { id: sourceId } = await makeSource(admin, shop, { ownerId: ann.id });
  const { id } = await orders(ann, { id: sourceId });
  await ann.put(`/datasets/${id}`, { ownerId: bob.id });
  expect(await bob.post(`/datasets/${id}/_refresh`)).toMatchObject({ status: 403 });
  expect(await bob.post(`/datasets/${id}/_refresh-internal`)).toMatchObject({ status: 403 });
  expect(await admin.post(`/datasets/${id}/_refresh`)).toMatchObject({ status: 403 });
  expect(await admin.post(`/datasets/${id}/_refresh-internal`)).toMatchObject({ status: 200, body: { records: 20 } });
});

test('a run counts at the source and stores nothing', async ({ ann, source }) => {
  const { id } = await orders(ann, source, {
    query: 'select id from orders where id > {{least}}',
    params: [{ name: 'least', dataType: 'number', defaultValue: 15 }],
  });
  expect(await ann.post(`/datasets/${id}/_run`)).toMatchObject({
    status: 200,
    body: { records: 5, success: true, duration: expect.any(Number), params: { least: 15 } },
  });
  expect(await ann.post(`/datasets/${id}/_run`, { params: { least: 19 } })).toMatchObject({
    status: 200,
    body: { records: 1, params: { least: 19 } },
  });
  expect((await ann.get(`/datasets/${id}`)).body).toMatchObject({ records: 0, lastRefresh: null });
});

test('a run with a name can be followed, and cancelled down to the source', async ({ ann, source, shop }) => {
  const quick = await orders(ann, source);
  expect(await ann.post(`/datasets/${quick.id}/_run`, { progress: 7 })).toMatchObject({
    status: 200,
    body: { records: 20 },
  });
  expect((await ann.get('/progress/7')).body).toMatchObject({
    operation: 'dataset.run',
    status: 'succeeded',
    percent: 100,
    result: { records: 20, success: true },
    resource: { kind: 'dataset', id: quick.id },
  });

  const slow = await orders(ann, source, { query: 'select pg_sleep(60)::text as slept' });
  const running = ann.post(`/datasets/${slow.id}/_run`, { progress: 'slow' });
  const asleep = async () =>
    (
      await shop.sql(
        `select pid from pg_stat_activity where datname = current_database() and state = 'active' and query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`,
      )
    ).length;
  await expect.poll(asleep, { timeout: 20_000 }).toBe(1);
  expect(await ann.delete('/progress/slow')).toMatchObject({ status: 202 });
  expect(await running).toMatchObject({ status: 409, body: { code: 'CANCELLED' } });
  await expect.poll(asleep, { timeout: 20_000 }).toBe(0);
  expect((await ann.get('/progress/slow')).body).toMatchObject({ status: 'cancelled', error: { statusCode: 409 } });
});

test('fields are synchronised without the rows', async ({ ann, source }) => {
  const { id } = await orders(ann, source, { refresh: true, fields: [{ name: 'id', label: 'Number' }] });
  await ann.put(`/datasets/${id}`, { query: 'select id, amount::integer as amount, 1 as extra from orders' });
  const { status, body } = await ann.post(`/datasets/${id}/_syncFields`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    fieldsAdded: 1,
    fieldsUpdated: 1,
    fieldsRemoved: 3,
    fields: [{ name: 'id', label: 'Number', type: 'integer' }, { name: 'amount', type: 'integer' }, { name: 'extra' }],
  });
  expect((await ann.get(`/datasets/${id}/data?limit=1`)).body.fields).toMatchObject([
    { name: 'id' },
    { name: 'amount', type: 'number' },
  ]);
});

test('a subscriber sees the dataset, again when its rows have been replaced, and no more when it is deleted', async ({
  ann,
  bob,
  source,
}) => {
  const { id, slug } = await orders(ann, source);
  const watch = (who: Client) => {
    const socket = createClient({
      url: `${who.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: who.headers.authorization },
    });
    return socket.iterate<{ datasetUpdated: { records: number } }>({
      query: `subscription { datasetUpdated(id: "${slug}") { id records } }`,
    });
  };
  const seen = watch(ann);
  expect((await seen.next()).value).toEqual({ data: { datasetUpdated: { id, records: 0 } } });
  const next = seen.next();
  await ann.post(`/datasets/${id}/_refresh`);
  expect((await next).value).toEqual({ data: { datasetUpdated: { id, records: 20 } } });
  const refused = await watch(bob)
    .next()
    .then(
      ({ value }) => value as { errors: { extensions: object }[] },
      (errors) => ({ errors }),
    );
  expect(refused).toMatchObject({ errors: [{ extensions: { code: 'NOT_FOUND' } }] });
  const last = seen.next();
  await ann.delete(`/datasets/${id}`);
  expect(await last).toMatchObject({ done: true });
});

test('a deleted dataset is gone, its rows with it', async ({ ann, source }) => {
  const { id } = await orders(ann, source, { refresh: true });
  expect(await ann.delete(`/datasets/${id}`)).toMatchObject({ status: 204 });
  expect(await ann.get(`/datasets/${id}`)).toMatchObject({ status: 404 });
  expect(await ann.get(`/datasets/${id}/data`)).toMatchObject({ status: 404 });
});

test('its list is filtered, sorted and paged', async ({ ann, bob, source }) => {
  const { id } = await orders(ann, source, { name: 'Zebra crossings' });
  expect(ids((await ann.get('/datasets?q=zebra')).body)).toEqual([id]);
  expect(ids((await ann.get('/datasets?sort=-name&limit=1')).body)).toEqual([id]);
  expect(ids((await ann.get(`/datasets?ownerId=${bob.id}`)).body)).toEqual([]);
});
