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
