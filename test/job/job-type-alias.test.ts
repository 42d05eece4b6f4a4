import { expect } from 'vitest';
import { expectBody, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { createJob, test } from './job-fixture.ts';

const EMAIL = { recipients: ['ann@example.com'], subject: 'Hello', body: 'There' };
const CREATE = `mutation ($input: CreateJobInput!) { createJob(input: $input) { type data actions { type name data } } }`;

test.for([
  ['email', 'email', EMAIL],
  ['api-call', 'webhook', { url: 'https://example.com/hook' }],
] as const)('the type %s of a job is one action of the type %s', async ([type, actionType, data], { ann }) => {
  const input = { name: 'Alias', type, data, interval: '0 3 * * *', intervalType: 'cron', enabled: true };
  const { id } = await expectBody(ann.post('/jobs', input), 201, { type: 'actions', enabled: true });
  const action = { type: actionType, name: 'Alias', data };
  await expectBody(ann.get(`/jobs/${id}`), 200, { type: 'actions', data: {} });
  const { body } = await ann.get(`/jobs/${id}/actions`);
  expect(body._embedded['svc:job-action']).toMatchObject([{ ...action, order: 0 }]);
  const { createJob: created } = await ann.data(CREATE, { input: { name: 'Alias', type, data } });
  expect(created).toMatchObject({ type: 'actions', data: {}, actions: [action] });
});

test('snapshot-cleanup may use an alias of the job, and library-sync a library', async ({ ann, orders }) => {
  const job = {
    name: 'Clean',
    type: 'snapshot-cleanup',
    datasets: { sales: orders.id },
    data: { alias: 'sales', keep: 3 },
  };
  await expectBody(ann.post('/jobs', job), 201, { type: 'actions' });
  const { id: libraryId } = await ann.creates('/libraries', { name: 'Papers' });
  const sync = { name: 'Sync', type: 'library-sync', data: { libraryId } };
  const { id } = await expectBody(ann.post('/jobs', sync), 201, { type: 'actions' });
  const { body } = await ann.get(`/jobs/${id}/actions`);
  expect(body._embedded['svc:job-action']).toMatchObject([{ type: 'sync-library', data: { libraryId } }]);
});

test('actions have the same other names, and index-files has no counterpart', async ({ ann }) => {
  const { path, id } = await createJob(ann);
  const data = { url: 'https://example.com/hook' };
  await expectBody(ann.post(`${path}/actions`, { type: 'api-call', name: 'Call', data }), 201, { type: 'webhook' });
  const message = 'type must not be index-files: use sync-library';
  await expectInvalid(ann.post(`${path}/actions`, { type: 'index-files', name: 'x' }), 'type', message);
  await expectInvalid(ann.post('/jobs', { type: 'index-files', name: 'x' }), 'type', message);
  const mutation = `mutation { createJobAction(jobId: "${id}", input: { type: "index-files", name: "x" }) { id } }`;
  await expectGraphqlError(ann.gql(mutation), 'BAD_USER_INPUT', message);
});

test('a job whose action is invalid is not created', async ({ ann }) => {
  const before = (await ann.get('/jobs?limit=1')).body.total;
  await expectInvalid(
    ann.post('/jobs', { name: 'x', type: 'email', data: { ...EMAIL, body: undefined } }),
    'data.body',
    /is required/,
  );
  await expectStatus(ann.post('/jobs', { name: 'x', type: 'email' }), 400);
  expect((await ann.get('/jobs?limit=1')).body.total).toBe(before);
});
