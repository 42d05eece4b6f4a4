import { expect } from 'vitest';
import { expectBody, expectError, expectInvalid, expectStatus } from '../support/expect.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createJob, test } from './job-fixture.ts';

const aliases = ({ body }: { body: any }) =>
  body._embedded['svc:job-dataset'].map(({ alias }: { alias: string }) => alias);

test('a new job has its datasets by alias, as ids or with snapshots', async ({ ann, orders }) => {
  const { id, path } = await createJob(ann, {
    type: 'dataset-refresh',
    datasets: {
      sales: orders.id,
      old: { datasetId: orders.id, snapshots: { when: 'before', snapshotDatasets: [orders.q1] } },
    },
  });
  const list = await ann.get(`${path}/datasets`);
  expect(aliases(list)).toEqual(['sales', 'old']);
  expect(list.body._embedded['svc:job-dataset']).toMatchObject([
    { alias: 'sales', jobId: id, datasetId: orders.id, snapshots: null },
    { alias: 'old', snapshots: { when: 'before', snapshotDatasets: [{ datasetId: orders.q1 }] } },
  ]);
  expect(aliases(await ann.get(path))).toEqual(['sales', 'old']);
  const { job } = await ann.data(`{ job(id: "${id}") { datasets { alias snapshots { when } dataset { name } } } }`);
  expect(job.datasets).toEqual([
    { alias: 'sales', snapshots: null, dataset: { name: 'Orders' } },
    { alias: 'old', snapshots: { when: 'BEFORE' }, dataset: { name: 'Orders' } },
  ]);
  const { createJob: listed } = await ann.data(
    `mutation ($input: CreateJobInput!) { createJob(input: $input) { datasets { alias snapshots { when } } } }`,
    {
      input: {
        name: 'G',
        type: 'actions',
        datasets: [{ alias: 'a', datasetId: orders.id, snapshots: { when: 'AFTER' } }],
      },
    },
  );
  expect(listed).toEqual({ datasets: [{ alias: 'a', snapshots: { when: 'AFTER' } }] });
});

test('datasets follow the rules of references in reports, and nothing is half done', async ({ ann, bob, orders }) => {
  const refuse = (datasets: object, status: number, message: RegExp) =>
    expectError(ann.post('/jobs', { name: 'Refused', type: 'actions', datasets }), status, message);
  await refuse({ 'no spaces': orders.id }, 400, /alias/);
  await refuse({ a: UNKNOWN_ID }, 404, /dataset/);
  await refuse({ a: orders.q1 }, 400, /draft or snapshot/);
  await refuse({ a: { datasetId: orders.id, snapshots: { snapshotDatasets: [UNKNOWN_ID] } } }, 404, /snapshot/);
  await refuse({ a: { datasetId: orders.id, snapshots: { when: 'never' } } }, 400, /when/);
  await expectError(bob.post('/jobs', { name: 'B', type: 'actions', datasets: { a: orders.id } }), 404, /dataset/);
  expect((await ann.get('/jobs?q=Refused')).body.total).toBe(0);
  const refuseKey = (datasets: unknown, key: string, message: string | RegExp) =>
    expectInvalid(ann.post('/jobs', { name: 'Refused', type: 'actions', datasets }), key, message);
  await refuseKey({ x: orders.id, a: { datasetId: orders.id, label: 'x' } }, 'datasets.a.label', 'Unknown key "label"');
  await refuseKey({ x: orders.id, a: { snapshots: null } }, 'datasets.a.datasetId', '"datasetId" is required');
  await refuseKey({ a: { datasetId: orders.id, alias: 'b' } }, 'datasets.a.alias', 'datasets.a.alias is unknown');
  await refuseKey({ a: 1 }, 'datasets.a', 'datasets.a must be a text or an object');
  await refuseKey([orders.id], 'datasets', 'datasets must be an object');
  const many = { datasetId: orders.id, snapshots: { snapshotDatasets: Array(51).fill(orders.q1) } };
  await refuseKey({ x: orders.id, many }, 'datasets.many.snapshots.snapshotDatasets', /^datasets.many.snapshots.* 50 /);
  await refuseKey(
    { x: { datasetId: orders.id, snapshots: { when: 'never' } } },
    'datasets.x.snapshots.when',
    /"never"/,
  );
  await refuseKey({ x: orders.id, 'no spaces': orders.id }, 'datasets.no spaces.alias', /no spaces.alias must match/);
  const full = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`a${index}`, orders.id]));
  await refuseKey(full, 'datasets', /100/);
});

test('a dataset is added, changed and removed', async ({ ann, orders }) => {
  const { path } = await createJob(ann);
  const created = await ann.post(`${path}/datasets`, { alias: 'sales', datasetId: orders.id });
  expect(created.status).toBe(201);
  expect(created.headers.get('location')).toBe(`/api${path}/datasets/sales`);
  await expectError(ann.post(`${path}/datasets`, { alias: 'sales', datasetId: orders.id }), 409, /alias "sales"/);
  await expectBody(
    ann.put(`${path}/datasets/sales`, { snapshots: { when: 'after', snapshotDatasets: [orders.q2, UNKNOWN_ID] } }),
    200,
    { snapshots: { when: 'after', snapshotDatasets: [{ datasetId: orders.q2 }] } },
  );
  const { body } = await ann.get(`${path}/datasets/sales`);
  await expectBody(ann.put(`${path}/datasets/sales`, body), 200, { snapshots: body.snapshots });
  const { datasetId, snapshots } = body;
  await expectBody(ann.post(`${path}/datasets`, { alias: 'copied', datasetId, snapshots }), 201, { snapshots });
  await expectStatus(ann.delete(`${path}/datasets/sales`), 204);
  await expectError(ann.get(`${path}/datasets/sales`), 404, 'There is no job dataset sales');
});

test('a new alias is replaced in actions and conditions, which keep the dataset', async ({ ann, orders }) => {
  const { path } = await createJob(ann, { datasets: { sales: orders.id } });
  const action = await ann.creates(`${path}/actions`, { type: 'refresh', name: 'Load', data: { alias: 'sales' } });
  const conditions = `${path}/actions/${action.id}/job-action-run-conditions`;
  const data = { alias: 'sales', criteria: { region: 'EU' }, op: 'gt', count: 3 };
  const condition = await ann.creates(conditions, { type: 'criteria', data });
  await expectError(ann.delete(`${path}/datasets/sales`), 409, 'The dataset sales is in use by the actions "Load"');
  await expectBody(ann.put(`${path}/datasets/sales`, { alias: 'orders' }), 200, { alias: 'orders' });
  await expectBody(ann.get(`${path}/actions/${action.id}`), 200, { data: { alias: 'orders' } });
  await expectBody(ann.get(`${conditions}/${condition.id}`), 200, { data: { ...data, alias: 'orders' } });
  await expectStatus(ann.delete(`${path}/actions/${action.id}`), 204);
  await expectStatus(ann.delete(`${path}/datasets/orders`), 204);
});

test('a dataset in a job cannot be deleted, and lists the job as a reference', async ({ ann, source }) => {
  const dataset = await ann.creates('/datasets', { name: 'Used', datasourceId: source.id, query: 'select 1 as one' });
  const path = `/datasets/${dataset.id}`;
  const job = await createJob(ann, { name: 'User', datasets: { used: dataset.id } });
  const acting = await createJob(ann, { name: 'Actor' });
  const data = { datasetId: dataset.slug };
  const action = await ann.creates(`${acting.path}/actions`, { type: 'refresh', name: 'Load', data });
  expect(action.data).toEqual({ datasetId: dataset.id });
  await expectStatus(ann.post(`${job.path}/_edit`), 201);

  const { body } = await ann.get(`${path}/references`);
  expect(body._embedded['svc:reference']).toMatchObject([
    { kind: 'job', id: acting.id, name: 'Actor' },
    { kind: 'job', id: job.id, name: 'User' },
  ]);
  await expectError(ann.delete(path), 409, 'The dataset is in use by job "Actor", job "User"');
  await expectStatus(ann.delete(job.path), 204);
  await expectStatus(ann.delete(acting.path), 204);
  await expectStatus(ann.delete(path), 204);
});
