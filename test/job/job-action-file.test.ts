import { expect } from 'vitest';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { recordStatements } from '../support/statement-log.ts';
import { systemQuery } from '../support/system-query.ts';
import { createJob, createNotify, test } from './job-fixture.ts';

const CSV = 'a,b\n1,2\n';

test('the file of an action is sent as a body or in a form, and read with its ETag', async ({ ann, bob, service }) => {
  const job = await createJob(ann);
  const action = await createNotify(ann, job, 'Tell');
  const path = `${job.path}/actions/${action}/action-file-contents`;
  await expectError(ann.get(path), 404, `There is no file of the job action ${action}`);
  const put = await ann.request('PUT', `/api${path}`, CSV, { 'content-type': 'text/csv' });
  expect(put).toMatchObject({ status: 200, body: { success: true } });
  const read = await ann.get(path);
  expect(read).toMatchObject({ status: 200, body: CSV });
  expect(read.headers.get('content-type')).toBe('text/csv');
  expect(read.headers.get('x-content-type-options')).toBe('nosniff');
  expect(read.headers.get('content-disposition')).toBe('attachment; filename="Tell"');
  const etag = read.headers.get('etag')!;
  expect((await ann.get(path, { 'if-none-match': etag })).status).toBe(304);

  const form = new FormData();
  form.append('file', new Blob(['{"x":1}'], { type: 'application/json' }), 'Zahlen für uns.json');
  expect(await ann.request('PUT', `/api${path}`, form)).toMatchObject({ status: 200, body: { success: true } });
  const second = await ann.get(path, { 'if-none-match': etag });
  expect(second.body).toEqual({ x: 1 });
  expect(second.headers.get('content-disposition')).toBe(
    `attachment; filename="Zahlen f_r uns.json"; filename*=UTF-8''Zahlen%20f%C3%BCr%20uns.json`,
  );
  // The row of the first file is gone, the row of the second is deleted with the action.
  const files = () => systemQuery(service, `select id from dws.stored_file`);
  expect(await files()).toHaveLength(1);
  await expectStatus(bob.get(path), 404);
  await expectStatus(ann.delete(`${job.path}/actions/${action}`), 204);
  expect(await files()).toHaveLength(0);
});

test('a large file is streamed both ways, and a body without bytes is an empty file', async ({ ann }) => {
  const job = await createJob(ann);
  const action = await createNotify(ann, job, 'Big');
  const path = `${job.path}/actions/${action}/action-file-contents`;
  const bytes = 'x'.repeat(12 * 1024 * 1024 + 1);
  await expectStatus(ann.request('PUT', `/api${path}`, bytes, { 'content-type': 'application/x-thing' }), 200);
  const { body, headers } = await ann.get(path);
  expect(headers.get('content-type')).toBe('application/x-thing');
  expect(body.length).toBe(bytes.length);
  await expectStatus(ann.request('PUT', `/api${path}`), 200);
  expect((await ann.get(path)).body).toBe('');
});

test('GraphQL sets the file, and a caller without job:edit may not', async ({ ann, bob }) => {
  const job = await createJob(ann);
  const action = await createNotify(ann, job, 'Tell');
  const path = `${job.path}/actions/${action}/action-file-contents`;
  const { setJobActionFile } = await ann.data(
    `mutation ($job: ID!, $action: ID!) {
      setJobActionFile(jobId: $job, jobActionId: $action, input: { file: "data:text/plain,hello" })
    }`,
    { job: job.id, action },
  );
  expect(setJobActionFile).toBe(action);
  expect((await ann.get(path)).body).toBe('hello');
  await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 1 }), 200);
  expect((await bob.get(path)).body).toBe('hello');
  await expectError(
    bob.request('PUT', `/api${path}`, 'mine', { 'content-type': 'text/plain' }),
    403,
    'You lack the permission job:edit',
  );
});

test('the file of an export is for those who may read all rows of its dataset', async ({
  ann,
  bob,
  orders,
  restrictBob,
}) => {
  const job = await createJob(ann, { datasets: { sales: orders.id } });
  const data = { alias: 'sales', format: 'csv' };
  const { id } = await ann.creates(`${job.path}/actions`, { type: 'export', name: 'Rows', data });
  const path = `${job.path}/actions/${id}/action-file-contents`;
  await expectStatus(ann.request('PUT', `/api${path}`, CSV, { 'content-type': 'text/csv' }), 200);
  await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 3 }), 200);
  await expectError(bob.get(path), 403, /rows of a dataset/);
  await restrictBob({ region: 'EU' });
  await expectError(bob.get(path), 403, /rows of a dataset/);
  await expectStatus(
    ann.put(`${orders.path}/shares/bob`, { accessLevel: 1, datasetFilterId: null, restrictFields: false }),
    200,
  );
  expect((await bob.get(path)).body).toBe(CSV);
  expect((await ann.get(path)).body).toBe(CSV);
});

test('an action shows its file to those who may read it, and a list of them takes no statement for each', async ({
  ann,
  bob,
  orders,
  restrictBob,
  service,
}) => {
  const job = await createJob(ann, { datasets: { sales: orders.id } });
  const add = async (type: string, data: object) => {
    const { id } = await ann.creates(`${job.path}/actions`, { type, name: type, data });
    const path = `${job.path}/actions/${id}`;
    await expectBody(ann.get(path), 200, { file: null, fileUrl: null });
    await expectStatus(
      ann.request('PUT', `/api${path}/action-file-contents`, CSV, { 'content-type': 'text/csv' }),
      200,
    );
    return path;
  };
  const notify = await add('notify', { recipients: ['ann'], message: 'Done' });
  const paths = [
    notify,
    await add('export', { alias: 'sales', format: 'csv' }),
    await add('export', { datasetId: orders.id, format: 'csv' }),
  ];
  const shown = (path: string, filename: string) => ({
    file: { filename, contentType: 'text/csv', size: Buffer.byteLength(CSV) },
    fileUrl: `/api${path}/action-file-contents`,
  });
  const all = paths.map((path, index) => shown(path, index === 0 ? 'notify' : 'export'));
  const onlyFirst = [all[0], { file: null, fileUrl: null }, { file: null, fileUrl: null }];
  const filesOf = async (client: typeof ann) => {
    const { body } = await client.get(`${job.path}/actions`);
    const listed = body._embedded['svc:job-action'].map(({ file, fileUrl }: any) => ({ file, fileUrl }));
    const { job: found } = await client.data(
      `{ job(id: "${job.id}") { actions { file { filename contentType size } fileUrl } } }`,
    );
    expect(found.actions).toEqual(listed);
    return listed;
  };
  expect(await filesOf(ann)).toEqual(all);
  await ann.delete(`${orders.path}/shares/bob`);
  await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 2 }), 200);
  expect(await filesOf(bob)).toEqual(onlyFirst);
  await restrictBob({ region: 'EU' });
  expect(await filesOf(bob)).toEqual(onlyFirst);
  await expectStatus(
    ann.put(`${orders.path}/shares/bob`, { accessLevel: 1, datasetFilterId: null, restrictFields: false }),
    200,
  );
  expect(await filesOf(bob)).toEqual(all);

  const statements = async () => (await recordStatements(service, () => filesOf(bob))).statements.length;
  const few = await statements();
  await add('export', { alias: 'sales', format: 'json' });
  expect(await statements()).toBe(few);
  await expectStatus(ann.put(notify, (await ann.get(notify)).body), 200);
});

test('the file of an export goes when the action, or its alias, names another dataset', async ({
  ann,
  orders,
  source,
}) => {
  const query = 'select 1 as x';
  const other = await ann.creates('/datasets', { name: 'Other', datasourceId: source.id, query, refresh: true });
  const job = await createJob(ann, { datasets: { sales: orders.id } });
  const data = { alias: 'sales', format: 'csv' };
  const { id } = await ann.creates(`${job.path}/actions`, { type: 'export', name: 'Rows', data });
  const path = `${job.path}/actions/${id}`;
  const upload = () =>
    expectStatus(ann.request('PUT', `/api${path}/action-file-contents`, CSV, { 'content-type': 'text/csv' }), 200);
  await upload();
  await expectStatus(ann.put(path, { data: { ...data, format: 'json' } }), 200);
  expect((await ann.get(`${path}/action-file-contents`)).body).toBe(CSV);
  await expectStatus(ann.put(`${job.path}/datasets/sales`, { datasetId: other.id }), 200);
  await expectStatus(ann.get(`${path}/action-file-contents`), 404);
  await upload();
  await expectStatus(ann.put(path, { data: { datasetId: orders.id, format: 'csv' } }), 200);
  await expectStatus(ann.get(`${path}/action-file-contents`), 404);
});
