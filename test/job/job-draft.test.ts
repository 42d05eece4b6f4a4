import { expect } from 'vitest';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { systemQuery } from '../support/system-query.ts';
import { actionNames, createJob, createNotify, test, type TestJob } from './job-fixture.ts';

test('a draft is created once, however many ask for it, and is in no list', async ({ ann, bob }) => {
  const job = await createJob(ann, { name: 'Drafted', interval: '1 hour', intervalType: 'simple', enabled: true });
  const responses = await Promise.all(Array.from({ length: 10 }, () => ann.post(`${job.path}/_edit`)));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([...Array(9).fill(200), 201]);
  const [id] = new Set(responses.map(({ body }) => body.id));
  expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1);
  expect(responses[0]!.body).toMatchObject({ id, name: 'Drafted', editingId: job.id });
  const draft = `/jobs/${id}`;
  await expectBody(ann.get(draft), 200, {
    editingId: job.id,
    name: 'Drafted',
    enabled: true,
    nextRunAt: null,
    _links: { 'svc:original': { href: `/api${job.path}` }, 'svc:commit-draft': { href: `/api${draft}/_commit` } },
  });
  expect((await ann.get('/jobs?q=Drafted')).body.total).toBe(1);
  expect((await ann.get('/jobs-list')).body.filter(({ name }: { name: string }) => name === 'Drafted')).toHaveLength(1);
  const { search } = await ann.data('{ search(q: "Drafted") { items { resourceId } } }');
  expect(search.items).toEqual([{ resourceId: job.id }]);
  await expectError(ann.put(`${draft}/shares/bob`, { accessLevel: 1 }), 409, 'A draft has the shares of its job');
  await expectError(ann.put(`${draft}/owner`, { ownerId: 'bob' }), 409, 'A draft has the owner of its job');
  await expectError(ann.post(`${draft}/_edit`), 409, 'A draft has no draft');
  await expectBody(ann.put(draft, { interval: '2 hours' }), 200, { nextRunAt: null });

  await expectStatus(bob.get(draft), 404);
  await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 1 }), 200);
  await expectBody(bob.get(draft), 200, { permissions: { read: true, edit: false } });
  await expectError(bob.post(`${draft}/_commit`), 403, 'You lack the permission job:edit');
  await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 2 }), 200);
  await expectBody(bob.post(`${job.path}/_edit`), 200, { id });
  const { job: seen } = await bob.data(
    `{ job(id: "${job.id}") { draft { id editing { name } permissions { edit } } } }`,
  );
  expect(seen.draft).toEqual({ id, editing: { name: 'Drafted' }, permissions: { edit: true } });
  await expectStatus(bob.delete(draft), 204);
  await expectStatus(ann.get(job.path), 200);
});

test('a draft belongs to the owner of its job, also to a new one', async ({ ann, bob, admin }) => {
  const job = await createJob(admin);
  const { id } = (await admin.post(`${job.path}/_edit`)).body;
  await expectStatus(admin.put(`${job.path}/owner`, { ownerId: 'bob' }), 200);
  await expectBody(bob.get(`/jobs/${id}`), 200, { ownerId: bob.id });
  await expectStatus(ann.get(`/jobs/${id}`), 404);
});

const parts = async (job: TestJob, who: any) => {
  const { job: found } = await who.data(`{ job(id: "${job.id}") {
    datasets { id alias snapshots { when snapshotDatasets { datasetId } } }
    actions { id name order data conditions { id type } }
  } }`);
  return found;
};

test('a commit replaces fields, datasets, actions and conditions, and keeps the ids of kept actions', async ({
  ann,
  orders,
  service,
}) => {
  const job = await createJob(ann, { name: 'Original', datasets: { sales: orders.id, old: orders.id } });
  const file = await ann.creates(`${job.path}/actions`, {
    type: 'export',
    name: 'File',
    data: { alias: 'sales', format: 'csv' },
  });
  await expectStatus(
    ann.request('PUT', `/api${job.path}/actions/${file.id}/action-file-contents`, 'kept', {
      'content-type': 'text/plain',
    }),
    200,
  );
  const dropped = await createNotify(ann, job, 'Dropped');
  const hook = await ann.creates(`${job.path}/actions`, {
    type: 'webhook',
    name: 'Hook',
    data: { url: 'https://example.com', secret: 'hush' },
  });
  const conditions = (id: string) => `${job.path}/actions/${id}/job-action-run-conditions`;
  const keptCondition = await ann.creates(conditions(hook.id), { type: 'failure' });
  await ann.creates(conditions(hook.id), { type: 'success' });
  const before = await parts(job, ann);

  const { id: draftId } = (await ann.post(`${job.path}/_edit`)).body;
  const draft = { id: draftId, path: `/jobs/${draftId}` };
  const copies = await parts(draft, ann);
  expect(copies.datasets.map(({ alias }: any) => alias)).toEqual(['sales', 'old']);
  expect(copies.actions.map(({ name }: any) => name)).toEqual(['File', 'Dropped', 'Hook']);
  const [fileCopy, droppedCopy, hookCopy] = copies.actions;
  expect(fileCopy.id).not.toBe(file.id);

  await expectStatus(
    ann.put(draft.path, {
      name: 'Committed',
      notes: 'New',
      interval: '5 minutes',
      intervalType: 'simple',
      enabled: true,
    }),
    200,
  );
  await expectStatus(ann.delete(`${draft.path}/datasets/old`), 204);
  await expectStatus(
    ann.post(`${draft.path}/datasets`, {
      alias: 'fresh',
      datasetId: orders.id,
      snapshots: { when: 'after', snapshotDatasets: [orders.q1] },
    }),
    201,
  );
  await expectStatus(ann.delete(`${draft.path}/actions/${droppedCopy.id}`), 204);
  const [kept, gone] = hookCopy.conditions;
  const copyConditions = `${draft.path}/actions/${hookCopy.id}/job-action-run-conditions`;
  await expectStatus(ann.delete(`${copyConditions}/${gone.id}`), 204);
  await expectStatus(ann.put(`${copyConditions}/${kept.id}`, { type: 'always' }), 200);
  const mail = await ann.creates(`${draft.path}/actions`, {
    type: 'email',
    name: 'Mail',
    data: { recipients: ['ann'], subject: 's', body: 'b', attach: [fileCopy.id] },
  });
  await expectStatus(ann.post(`${draft.path}/actions/${mail.id}/job-action-run-conditions`, { type: 'success' }), 201);
  await expectStatus(
    ann.post(`${draft.path}/_job-action-order`, { actions: [hookCopy.id, fileCopy.id, mail.id] }),
    200,
  );
  // Nothing of the job has changed so far.
  expect(await parts(job, ann)).toEqual(before);

  const committed = await ann.post(`${draft.path}/_commit`);
  expect(committed).toMatchObject({
    status: 200,
    body: { id: job.id, name: 'Committed', notes: 'New', enabled: true },
  });
  expect(committed.body.nextRunAt).toEqual(expect.any(String));
  expect(committed.body.slug).toBe('original');
  await expectStatus(ann.get(draft.path), 404);
  const after = await parts(job, ann);
  expect(after.datasets).toEqual([
    { id: before.datasets[0].id, alias: 'sales', snapshots: null },
    {
      id: expect.any(String),
      alias: 'fresh',
      snapshots: { when: 'AFTER', snapshotDatasets: [{ datasetId: orders.q1 }] },
    },
  ]);
  expect(after.actions).toMatchObject([
    { id: hook.id, name: 'Hook', order: 0, conditions: [{ id: keptCondition.id, type: 'ALWAYS' }] },
    { id: file.id, name: 'File', order: 1, conditions: [] },
    { id: mail.id, name: 'Mail', order: 2, data: { attach: [file.id] }, conditions: [{ type: 'SUCCESS' }] },
  ]);
  expect(await actionNames(ann, job)).toEqual(['Hook', 'File', 'Mail']);
  expect((await ann.get(`${job.path}/actions/${file.id}/action-file-contents`)).body).toBe('kept');
  await expectError(ann.get(`${job.path}/actions/${dropped}`), 404);
  const [stored] = await systemQuery<{ secrets: string }>(
    service,
    'select secrets from dws.job_action where id = $1',
    hook.id,
  );
  expect(JSON.parse(service.platform.secrets.open(stored!.secrets, 'a test'))).toEqual([['secret', 'hush']]);
  const { body } = await ann.get(`${job.path}/activity`);
  expect(body._embedded['svc:activity'][0]).toMatchObject({
    type: 'job.draft.committed',
    message: 'ann committed a draft of Committed',
  });
  expect(await systemQuery(service, `select id from dws.activity where resource_id = $1`, draft.id)).toEqual([]);

  // The copies attach the copy of the file.
  const again = (await ann.post(`${job.path}/_edit`)).body.id;
  const next = await parts({ id: again, path: '' }, ann);
  expect(next.actions[2].data.attach).toEqual([next.actions[1].id]);
  expect(next.actions[1].id).not.toBe(file.id);
});

test('a commit keeps the ids of datasets whose aliases were swapped, with the snapshots of the draft', async ({
  ann,
  orders,
}) => {
  const chosen = (id: string) => ({ when: 'before', snapshotDatasets: [id] });
  const job = await createJob(ann, {
    datasets: {
      first: { datasetId: orders.id, snapshots: chosen(orders.q1) },
      second: { datasetId: orders.id, snapshots: chosen(orders.q2) },
      third: orders.id,
    },
  });
  const [first, second, third] = (await parts(job, ann)).datasets;
  const { id } = (await ann.post(`${job.path}/_edit`)).body;
  const draft = `/jobs/${id}/datasets`;
  for (const [from, to] of [
    ['first', 'spare'],
    ['second', 'first'],
    ['spare', 'second'],
  ])
    await expectStatus(ann.put(`${draft}/${from}`, { alias: to }), 200);
  await expectStatus(ann.put(`${draft}/second`, { snapshots: { when: 'before', snapshotDatasets: [orders.q2] } }), 200);
  await expectStatus(ann.post(`/jobs/${id}/_commit`), 200);
  const snapshots = { when: 'BEFORE', snapshotDatasets: [{ datasetId: orders.q2 }] };
  expect((await parts(job, ann)).datasets).toEqual([
    { id: first.id, alias: 'second', snapshots },
    { id: second.id, alias: 'first', snapshots },
    third,
  ]);
  const { node } = await ann.data(`{ node(id: "${first.id}") { ... on JobDataset { alias } } }`);
  expect(node).toEqual({ alias: 'second' });
});

test('a commit keeps a file that the job got after the creation of the draft', async ({ ann, orders, source }) => {
  const query = 'select 1 as x';
  const other = await ann.creates('/datasets', { name: 'Other', datasourceId: source.id, query, refresh: true });
  const job = await createJob(ann, { datasets: { sales: orders.id } });
  const data = { alias: 'sales', format: 'csv' };
  const names = ['Kept', 'Changed', 'Moved'];
  const ids: string[] = [];
  for (const name of names) ids.push((await ann.creates(`${job.path}/actions`, { type: 'export', name, data })).id);
  // The last one names another dataset in the draft.
  await expectStatus(ann.put(`${job.path}/actions/${ids[2]}`, { data: { datasetId: orders.id, format: 'csv' } }), 200);
  const send = (path: string, action: string, text: string) =>
    expectStatus(
      ann.request('PUT', `/api${path}/actions/${action}/action-file-contents`, text, { 'content-type': 'text/plain' }),
      200,
    );
  const filesOf = async () =>
    Promise.all(ids.map(async (id) => (await ann.get(`${job.path}/actions/${id}/action-file-contents`)).body));
  for (const id of ids.slice(0, 2)) await send(job.path, id, 'old');

  const draft = { id: (await ann.post(`${job.path}/_edit`)).body.id as string, path: '' };
  draft.path = `/jobs/${draft.id}`;
  const copies = (await parts(draft, ann)).actions.map(({ id }: any) => id);
  for (const id of ids) await send(job.path, id, 'new');
  await send(draft.path, copies[1], 'of the draft');
  await expectStatus(
    ann.put(`${draft.path}/actions/${copies[2]}`, { data: { datasetId: other.id, format: 'csv' } }),
    200,
  );
  await expectStatus(ann.post(`${draft.path}/_commit`), 200);
  // The file has rows of the former dataset.
  const gone = expect.objectContaining({ statusCode: 404 });
  expect(await filesOf()).toEqual(['new', 'of the draft', gone]);
});

test('only a draft can be committed, and a failed commit changes nothing', async ({ ann }) => {
  const job = await createJob(ann, { startOn: '2999-01-01T00:00:00Z', intervalType: 'once', enabled: true });
  await expectError(ann.post(`${job.path}/_commit`), 409, 'Only a draft can be committed');
  const { id } = (await ann.post(`${job.path}/_edit`)).body;
  await createNotify(ann, { id, path: `/jobs/${id}` }, 'New');
  await expectStatus(ann.put(`/jobs/${id}`, { startOn: '2001-01-01T00:00:00Z', name: 'Late' }), 200);
  await expectError(ann.post(`/jobs/${id}/_commit`), 400, /startOn/);
  await expectBody(ann.get(job.path), 200, { name: 'Nightly', startOn: '2999-01-01T00:00:00.000Z' });
  expect(await actionNames(ann, job)).toEqual([]);
  await expectStatus(ann.get(`/jobs/${id}`), 200);
});

test('a job and its draft go to the new owner when their owner is deleted', async ({ ann, admin, service }) => {
  const carl = await service.user('carl');
  const job = await createJob(carl);
  const { id } = (await carl.post(`${job.path}/_edit`)).body;
  await expectStatus(admin.delete('/users/carl?transferTo=ann'), 204);
  await expectBody(ann.get(`/jobs/${id}`), 200, { ownerId: ann.id, editingId: job.id });
  await expectBody(ann.post(`/jobs/${id}/_commit`), 200, { id: job.id, ownerId: ann.id });
});
