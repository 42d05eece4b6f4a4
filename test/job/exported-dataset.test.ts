import type { ServerResponse } from 'node:http';
import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectError, expectStatus } from '../support/expect.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { attempt, createAction, ownerOf } from './driver-fixture.ts';
import { addAction, addEmail, giveAddresses, putFile, readLastRun } from './email-fixture.ts';
import { createJob, type TestJob } from './job-fixture.ts';
import { test, urlOf } from './webhook-fixture.ts';

const REFUSED = 'The file contains rows of a dataset that you may not read in full';

test.for(['datasetId', 'alias'] as const)(
  'an export fails if the dataset that it names by %s is replaced during the run',
  async (key, { ann, bob, orders, source, restrictBob, receiver }) => {
    await restrictBob({ region: 'EU' });
    const own = await ann.creates('/datasets', { name: 'Own', datasourceId: source.id, query: 'select 1 as one' });
    await expectStatus(ann.put(`/datasets/${own.id}/shares/bob`, { accessLevel: 1 }), 200);
    const job = await createJob(ann, { datasets: { sales: orders.id } });
    await addAction(ann, job, 'webhook', { url: urlOf(receiver) });
    const named = key === 'alias' ? { alias: 'sales' } : { datasetId: orders.id };
    const id = await addAction(ann, job, 'export', { ...named, format: 'csv' });
    await expectStatus(ann.post(`${job.path}/actions/${id}/job-action-run-conditions`, { type: 'always' }), 201);
    await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 2 }), 200);

    const calls: ServerResponse[] = [];
    receiver.respond = (_request, response) => void calls.push(response);
    const running = ann.post(job.path, {});
    await expect.poll(() => calls.length).toBe(1);
    const replaced =
      key === 'alias'
        ? bob.put(`${job.path}/datasets/sales`, { datasetId: own.id })
        : bob.put(`${job.path}/actions/${id}`, { data: { datasetId: own.id, format: 'csv' } });
    await expectStatus(replaced, 200);
    calls[0]!.end('ok');
    await running;
    await expectStatus(bob.get(`${job.path}/actions/${id}/action-file-contents`), 404);
    expect(await readLastRun(ann, job)).toMatchObject({
      success: false,
      error: 'It was changed or deleted after the run had started',
    });
  },
);

/** An export of a dataset that bob may read in part, which then names a dataset that he may read as a whole. */
async function exportThenName(service: Service, ann: Client, datasetId: string, other: string) {
  const job: TestJob = await createJob(ann);
  const id = await addAction(ann, job, 'export', { datasetId, format: 'csv' });
  await expectStatus(ann.post(job.path, {}), 200);
  await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 2 }), 200);
  return {
    job,
    id,
    file: `${job.path}/actions/${id}/action-file-contents`,
    // As after a change at the moment at which the file was stored.
    nameOther: () =>
      systemQuery(
        service,
        `update dws.job_action
        set dataset_id = $2::uuid, data = data || jsonb_build_object('datasetId', $2::text)
        where id = $1`,
        id,
        other,
      ),
  };
}

test('the file of an export is for those who may read the dataset whose rows it has', async ({
  ann,
  bob,
  orders,
  source,
  restrictBob,
  service,
}) => {
  await restrictBob({ region: 'EU' });
  await giveAddresses(ann, bob);
  const own = await ann.creates('/datasets', { name: 'Own', datasourceId: source.id, query: 'select 1 as one' });
  await expectStatus(ann.put(`/datasets/${own.id}/shares/bob`, { accessLevel: 1 }), 200);
  const { job, id, file, nameOther } = await exportThenName(service, ann, orders.id, own.id);
  await expectError(bob.get(file), 403, REFUSED);
  await nameOther();
  await expectError(bob.get(file), 403, REFUSED);
  await expectStatus(ann.get(file), 200);

  // The mail is first, before the export writes another file.
  const email = { type: 'email', name: 'Mail', data: { recipients: ['bob'], subject: 'Rows', body: '', attach: [id] } };
  await expectError(bob.post(`${job.path}/actions`, email), 403, REFUSED);
  await expectStatus(ann.post(`${job.path}/actions/${id}/job-action-run-conditions`, { type: 'always' }), 201);
  const mail = await addEmail(ann, job, { recipients: ['bob'], attach: [id] });
  await expectStatus(ann.post(`${job.path}/_job-action-order`, { actions: [mail, id] }), 200);
  await expectStatus(ann.post(job.path, {}), 200);
  const { body } = await ann.get(`${job.path}/history?limit=1`);
  const { history } = body._embedded['svc:job-history'][0];
  expect(history.map(({ result }: { result: object }) => result)).toMatchObject([
    {
      success: false,
      error: 'The file of the action "export" has rows of another dataset than the action refers to now',
    },
    { success: true },
  ]);
  await expectStatus(bob.get(file), 200);
});

test('a file that was uploaded to an export is for those who may read the dataset that it names', async ({
  ann,
  bob,
  orders,
  source,
  restrictBob,
  service,
}) => {
  await restrictBob({ region: 'EU' });
  const own = await ann.creates('/datasets', { name: 'Own', datasourceId: source.id, query: 'select 1 as one' });
  await expectStatus(ann.put(`/datasets/${own.id}/shares/bob`, { accessLevel: 1 }), 200);
  const { job, id, file, nameOther } = await exportThenName(service, ann, orders.id, own.id);
  await putFile(ann, job, id, { content: 'one', filename: 'one.csv', type: 'text/csv' });
  await expectError(bob.get(file), 403, REFUSED);
  await nameOther();
  await expectStatus(bob.get(file), 200);
});

test('a draft and its commit keep the dataset whose rows a file has', async ({ ann, orders, service }) => {
  const job = await createJob(ann);
  const id = await addAction(ann, job, 'export', { datasetId: orders.id, format: 'csv' });
  const draft = `/jobs/${(await ann.post(`${job.path}/_edit`)).body.id}`;
  await expectStatus(ann.post(draft, {}), 200);
  const exported = (jobPath: string) =>
    systemQuery(
      service,
      `select exported_dataset_id as id from dws.job_action where job_id = $1`,
      jobPath.split('/').at(-1),
    );
  expect(await exported(draft)).toEqual([{ id: orders.id }]);
  expect(await exported(job.path)).toEqual([{ id: null }]);
  await expectStatus(ann.post(`${draft}/_commit`), 200);
  expect(await exported(job.path)).toEqual([{ id: orders.id }]);
  await expectStatus(ann.get(`${job.path}/actions/${id}/action-file-contents`), 200);
  const next = `/jobs/${(await ann.post(`${job.path}/_edit`)).body.id}`;
  expect(await exported(next)).toEqual([{ id: orders.id }]);
});

test('a run for a former owner no longer stores a file', async ({ ann, bob, orders, service }) => {
  const action = await createAction(ann, 'export', { datasetId: orders.id, format: 'csv' });
  await expectStatus(ann.put(`${action.job.path}/owner`, { ownerId: bob.id }), 200);
  await expect(attempt(service, ownerOf(ann), action)).rejects.toThrow('The action was changed during the run');
  await expectStatus(bob.get(`${action.action.path}/action-file-contents`), 404);
});
