import { expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { createSource, test, type Shop } from '../support/shop-fixture.ts';
import { createOrders, recordsOf } from './dataset-fixture.ts';

test('a refresh loads the rows and counts them', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source);
  const { status, body } = await ann.post(`/datasets/${id}/_refresh`, {});
  expect(status).toBe(200);
  expect(body).toEqual({
    id,
    records: 20,
    previousRecordCount: 0,
    duration: expect.any(Number),
    fieldsAdded: 5,
    fieldsUpdated: 0,
    fieldsRemoved: 0,
    dataUpdatedAt: expect.any(String),
    success: true,
  });
  const dataset = await expectBody(ann.get(`/datasets/${id}`), 200, {
    records: 20,
    esIndex: expect.any(String),
    dataUpdatedAt: body.dataUpdatedAt,
    lastRefresh: { success: true, error: null, at: body.dataUpdatedAt },
  });
  expect(dataset.sizeFormatted).toMatch(/^\d+(\.\d)? (B|kB|MB)$/);
  expect(dataset.fields.map(({ name, type }: { name: string; type: string }) => [name, type])).toEqual([
    ['id', 'integer'],
    ['region', 'string'],
    ['amount', 'number'],
    ['ordered_on', 'date'],
    ['note', 'string'],
  ]);
});

test('a dataset that is created with refresh: true has its rows immediately', async ({ ann, source }) => {
  const fields = [{ name: 'amount', label: 'Amount in EUR' }];
  const dataset = await createOrders(ann, source, { refresh: true, fields });
  expect(dataset).toMatchObject({
    records: 20,
    fields: expect.arrayContaining([expect.objectContaining({ name: 'amount', label: 'Amount in EUR' })]),
  });
  const broken = await createOrders(ann, source, { query: 'select nothing', refresh: true });
  expect(broken).toMatchObject({
    records: 0,
    lastRefresh: { success: false, error: expect.stringContaining('nothing') },
  });
});

test('a client that does not wait follows the operation', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source);
  const response = await ann.post(`/datasets/${id}/_refresh`, { progress: 'mine' }, { prefer: 'respond-async' });
  const operation = await expectBody(response, 202, {
    operation: 'dataset.refresh',
    progress: 'mine',
    resource: { kind: 'dataset', id },
  });
  const path = `/progress/${operation.id}`;
  expect(response.headers.get('location')).toBe(`/api${path}`);
  await expect.poll(async () => (await ann.get(path)).body.status).toBe('succeeded');
  await expectBody(ann.get(path), 200, { result: { records: 20 } });
});

test('GraphQL waits for the result, or returns only the operation', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source);
  const mutation = `
    mutation ($wait: Boolean) {
      refreshDataset(id: "${id}", wait: $wait) { operation { status percent } result { records success } }
    }`;
  const waited = await ann.data(mutation, { wait: true });
  expect(waited.refreshDataset).toEqual({
    operation: { status: 'SUCCEEDED', percent: 100 },
    result: { records: 20, success: true },
  });
  const started = await ann.data(mutation, { wait: false });
  expect(started.refreshDataset).toMatchObject({ result: null });
});

test('an invalid refresh is refused before it starts', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source, {
    query: 'select {{region}}::text as region',
    params: [{ name: 'region', dataType: 'string', required: true }],
  });
  const refresh = (body: object) => ann.post(`/datasets/${id}/_refresh`, body);
  await expectError(refresh({}), 400, /"region"/);
  await expectError(refresh({ params: { area: 'EU' } }), 400, /"area"/);
  await expectError(refresh({ progress: '' }), 400);
  await expectBody(refresh({ params: { region: 'EU' } }), 200, { records: 1 });
});

test('a failed refresh leaves the old rows and reports the error', async ({ ann, source, shop }) => {
  const { id } = await createOrders(ann, source, { query: 'select 100 / (select divisor from odds) as x' });
  const path = `/datasets/${id}`;
  await shop.sql('create table odds as select 4 as divisor');
  await ann.post(`${path}/_refresh`);
  const before = (await ann.get(path)).body;

  await shop.sql('update odds set divisor = 0');
  const failed = await ann.post(`${path}/_refresh`);
  expect(failed.body.message).toContain('division by zero');
  await expectBody(ann.get(path), 200, {
    records: 1,
    esIndex: before.esIndex,
    dataUpdatedAt: before.dataUpdatedAt,
    lastRefresh: { success: false, error: expect.stringContaining('division by zero') },
  });
  expect(recordsOf((await ann.get(`${path}/data`)).body)).toEqual([{ x: 25 }]);
});

test('only superusers refresh without the owner’s access to the datasource', async ({ admin, ann, bob, shop }) => {
  const datasource = await createSource(admin, shop, { ownerId: ann.id });
  const { id } = await createOrders(ann, datasource);
  const path = `/datasets/${id}`;
  await ann.put(path, { ownerId: bob.id });
  await expectError(bob.post(`${path}/_refresh`), 403);
  await expectError(bob.post(`${path}/_refresh-internal`), 403);
  await expectError(admin.post(`${path}/_refresh`), 403);
  await expectBody(admin.post(`${path}/_refresh-internal`), 200, { records: 20 });
});

test('a run counts rows at the source and stores nothing', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source, {
    query: 'select id from orders where id > {{minId}}',
    params: [{ name: 'minId', dataType: 'number', defaultValue: 15 }],
  });
  const path = `/datasets/${id}`;
  await expectBody(ann.post(`${path}/_run`), 200, {
    records: 5,
    success: true,
    duration: expect.any(Number),
    params: { minId: 15 },
  });
  await expectBody(ann.post(`${path}/_run`, { params: { minId: 19 } }), 200, { records: 1, params: { minId: 19 } });
  await expectBody(ann.get(path), 200, { records: 0, lastRefresh: null });
});

test('a named run has an operation record', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source);
  await expectBody(ann.post(`/datasets/${id}/_run`, { progress: 7 }), 200, { records: 20 });
  await expectBody(ann.get('/progress/7'), 200, {
    operation: 'dataset.run',
    status: 'succeeded',
    percent: 100,
    result: { records: 20, success: true },
    resource: { kind: 'dataset', id },
  });
});

/** Counts the statements that sleep in the source. */
async function countSleeping(shop: Shop): Promise<number> {
  const sleeping = await shop.sql(`
    select pid
    from pg_stat_activity
    where datname = current_database() and state = 'active'
      and query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`);
  return sleeping.length;
}

test('a named run is cancelled together with its statement in the source', async ({ ann, source, shop }) => {
  const { id } = await createOrders(ann, source, { query: 'select pg_sleep(60)::text as slept' });
  const run = ann.post(`/datasets/${id}/_run`, { progress: 'slow' });
  await expect.poll(() => countSleeping(shop)).toBe(1);
  expect(await ann.delete('/progress/slow')).toMatchObject({ status: 202 });
  await expectBody(run, 409, { code: 'CANCELLED' });
  await expect.poll(() => countSleeping(shop)).toBe(0);
  await expectBody(ann.get('/progress/slow'), 200, { status: 'cancelled', error: { statusCode: 409 } });
});
