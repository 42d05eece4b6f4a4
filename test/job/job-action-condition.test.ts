import { expect } from 'vitest';
import { expectBody, expectError, expectInvalid, expectStatus } from '../support/expect.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createJob, createNotify, test } from './job-fixture.ts';

test('run conditions are created, read, changed and deleted', async ({ ann, orders }) => {
  const job = await createJob(ann, { datasets: { sales: orders.id } });
  const action = await createNotify(ann, job, 'Tell');
  const path = `${job.path}/actions/${action}/job-action-run-conditions`;
  const created = await ann.post(path, { type: 'failure' });
  expect(created.status).toBe(201);
  expect(created.headers.get('location')).toBe(`/api${path}/${created.body.id}`);
  expect(created.body).toMatchObject({ jobActionId: action, type: 'failure', data: {} });
  const data = { alias: 'sales', criteria: { region: 'EU' }, op: 'gte', count: 5 };
  const single = `${path}/${created.body.id}`;
  await expectBody(ann.put(single, { type: 'criteria', data }), 200, { type: 'criteria', data });
  await expectBody(ann.put(single, (await ann.get(single)).body), 200, { type: 'criteria', data });
  await expectBody(ann.put(single, { type: 'always' }), 200, { type: 'always', data: {} });
  await expectStatus(ann.post(path, { type: 'success' }), 201);
  const { job: found } = await ann.data(
    `{ job(id: "${job.id}") { action(jobActionId: "${action}") { conditions { type jobAction { name } } } } }`,
  );
  expect(found.action.conditions).toEqual([
    { type: 'ALWAYS', jobAction: { name: 'Tell' } },
    { type: 'SUCCESS', jobAction: { name: 'Tell' } },
  ]);
  await expectStatus(ann.delete(single), 204);
  await expectError(ann.get(single), 404, `There is no job action run condition ${created.body.id}`);
  expect((await ann.get(path)).body.total).toBe(1);
});

test('wrong data is refused with its key, and a condition of another action is not found', async ({ ann, orders }) => {
  const job = await createJob(ann, { datasets: { sales: orders.id } });
  const [action, other] = [await createNotify(ann, job, 'One'), await createNotify(ann, job, 'Two')];
  const path = `${job.path}/actions/${action}/job-action-run-conditions`;
  const data = { alias: 'sales', criteria: {}, op: 'gt', count: 0 };
  const add = (body: object) => ann.post(path, body);
  await expectError(add({ type: 'maybe' }), 400, /type/);
  await expectInvalid(add({ type: 'success', data: { count: 1 } }), 'data.count', /unknown/);
  await expectInvalid(add({ type: 'criteria', data: { ...data, op: 'like' } }), 'data.op', /gte/);
  await expectInvalid(add({ type: 'criteria', data: { ...data, count: -1 } }), 'data.count', />= 0/);
  await expectInvalid(add({ type: 'criteria', data: { ...data, alias: 'other' } }), 'data.alias', /not an alias/);
  await expectError(add({ type: 'criteria', data: { ...data, criteria: { colour: 1 } } }), 400, /colour/);
  await expectError(
    add({ type: 'criteria', data: { ...data, alias: undefined, datasetId: UNKNOWN_ID } }),
    404,
    /dataset/,
  );
  const { id } = await ann.creates(path, { type: 'always' });
  await expectError(ann.get(`${job.path}/actions/${other}/job-action-run-conditions/${id}`), 404);
  await expectError(ann.put(`${job.path}/actions/${other}/job-action-run-conditions/${id}`, {}), 404);
  expect((await ann.get(path)).body.total).toBe(1);
});

test('an editor who may read a part of a dataset lets no run count its other rows', async ({
  ann,
  bob,
  orders,
  restrictBob,
  source,
}) => {
  const query = 'select 1 as id';
  const own = await ann.creates('/datasets', { name: 'Own', datasourceId: source.id, query, refresh: true });
  const job = await createJob(ann, { datasets: { sales: own.id } });
  const action = await createNotify(ann, job, 'Counted');
  const path = `${job.path}/actions/${action}/job-action-run-conditions`;
  await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 2 }), 200);
  await expectStatus(ann.put(`/datasets/${own.id}/shares/bob`, { accessLevel: 1 }), 200);
  await restrictBob({ region: 'EU' });
  const count = (more: object) => ({
    type: 'criteria',
    data: { criteria: { id: { $gt: 0 } }, op: 'gt', count: 5, ...more },
  });
  const refused = 'The run would count rows of a dataset that you may not read in full';
  await expectError(bob.post(path, count({ datasetId: orders.id })), 403, refused);
  const condition = await bob.creates(path, count({ alias: 'sales' }));
  await expectError(bob.put(`${job.path}/datasets/sales`, { datasetId: orders.id }), 403, refused);
  await expectError(bob.put(`${path}/${condition.id}`, count({ datasetId: orders.id })), 403, refused);
  await expectStatus(ann.put(`${job.path}/datasets/sales`, { datasetId: orders.id }), 200);
  // Sending the same values is not a change.
  await expectStatus(bob.put(`${path}/${condition.id}`, count({ alias: 'sales' })), 200);
  await expectError(bob.put(`${path}/${condition.id}`, count({ alias: 'sales', count: 6 })), 403, refused);
});
