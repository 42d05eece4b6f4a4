import { expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { createJob, test } from './job-fixture.ts';

test('a job is created disabled, in the time zone of its owner', async ({ ann }) => {
  await expectStatus(ann.put('/me', { timezone: 'Europe/Berlin' }), 200);
  const created = await ann.post('/jobs', { name: 'Sales report', type: 'actions' });
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    id: expect.any(String),
    name: 'Sales report',
    type: 'actions',
    ownerId: ann.id,
    timezone: 'Europe/Berlin',
    enabled: false,
    _links: expect.any(Object),
  });
  expect(created.headers.get('location')).toBe(`/api/jobs/${created.body.id}`);
  await expectBody(ann.get('/jobs/default:sales-report'), 200, {
    id: created.body.id,
    naturalId: 'default:sales-report',
    interval: null,
    intervalType: null,
    nextRunAt: null,
    startOn: null,
    endOn: null,
    lockedAt: null,
    heartbeat: null,
    data: {},
    notes: null,
    source: null,
    sourceId: null,
    editingId: null,
    permissions: { read: true, edit: true, delete: true, run: true },
    _embedded: { 'svc:job-dataset': [], 'svc:job-action': [] },
    _links: {
      'svc:job-driver': { href: '/api/job-drivers' },
      'svc:job-datasets': { href: `/api/jobs/${created.body.id}/datasets` },
      'svc:job-actions': { href: `/api/jobs/${created.body.id}/actions` },
    },
  });
  await expectStatus(ann.put('/me', { timezone: null }), 200);
  const { createJob: job } = await ann.data(
    `mutation { createJob(input: { name: "Other", type: "actions" }) { timezone driver { id } drafted: draft { id } } }`,
  );
  expect(job).toEqual({ timezone: 'UTC', driver: { id: 'actions' }, drafted: null });
});

test('a job of a team has UTC, and one for another owner their time zone', async ({ ann, bob, admin }) => {
  const { id } = await admin.creates('/teams', { name: 'Night shift' });
  await expectStatus(admin.put(`/teams/${id}/members/ann`, { role: 'memberPlus' }), 200);
  await expectStatus(bob.put('/me', { timezone: 'Asia/Kathmandu' }), 200);
  await expectBody(ann.post('/jobs', { name: 'T', type: 'actions', ownerId: `team:${id}` }), 201, { timezone: 'UTC' });
  await expectBody(ann.post('/jobs', { name: 'B', type: 'actions', ownerId: 'bob' }), 201, {
    timezone: 'Asia/Kathmandu',
    ownerId: bob.id,
  });
});

test('data is checked by the JSON Schema of the driver, and the type is known', async ({ ann }) => {
  await expectInvalid(ann.post('/jobs', { name: 'x', type: 'cobol' }), 'type', /dataset-refresh, actions/);
  await expectInvalid(
    ann.post('/jobs', { name: 'x', type: 'actions', data: { overlap: 'twice' } }),
    'data.overlap',
    'data.overlap must be one of skip, queue',
  );
  const { path } = await createJob(ann, { data: { overlap: 'queue' } });
  await expectInvalid(ann.put(path, { data: { colour: 'red' } }), 'data.colour', 'data.colour is unknown');
  await expectBody(ann.get(path), 200, { data: { overlap: 'queue' } });
  await expectBody(ann.put(path, { data: null, notes: ' Careful ' }), 200, { data: {}, notes: 'Careful' });
});

test('a record that is sent back changes nothing, and the type cannot change', async ({ ann }) => {
  const { path } = await createJob(ann, { interval: '0 3 * * *', intervalType: 'cron', enabled: true });
  const { body } = await ann.get(path);
  const { body: unchanged } = await ann.put(path, body);
  expect({ ...unchanged, updatedAt: body.updatedAt }).toEqual(body);
  await expectError(ann.put(path, { type: 'dataset-refresh' }), 400, /type/);
  await expectError(ann.put(path, { source: 'x' }), 400, /source/);
});

test('the next run is computed when a job is saved, and is null while it is disabled', async ({ ann }) => {
  const { path } = await createJob(ann, { interval: '30 2 * * *', intervalType: 'cron', timezone: 'UTC' });
  await expectBody(ann.get(path), 200, { nextRunAt: null, enabled: false });
  const { body } = await ann.put(path, { enabled: true });
  expect(body.nextRunAt).toMatch(/T02:30:00\.000Z$/);
  expect(new Date(body.nextRunAt).getTime() - Date.now()).toBeLessThanOrEqual(86_400_000);
  const moved = await ann.put(path, { timezone: 'Asia/Kathmandu' });
  expect(moved.body.nextRunAt).toMatch(/T20:45:00\.000Z$/);
  await expectBody(ann.put(path, { enabled: false }), 200, { nextRunAt: null });
  await expectBody(ann.put(path, { enabled: true, intervalType: null, interval: null }), 200, { nextRunAt: null });
  const { updateJob } = await ann.data(
    `mutation ($id: ID!) { updateJob(id: $id, input: { intervalType: ONCE, startOn: "2999-01-01T00:00:00Z" }) {
      nextRunAt intervalType
    } }`,
    { id: path.slice('/jobs/'.length) },
  );
  expect(updateJob).toEqual({ nextRunAt: '2999-01-01T00:00:00.000Z', intervalType: 'ONCE' });
});

test('an invalid schedule names its key, and nothing is changed', async ({ ann }) => {
  const { path } = await createJob(ann);
  const refuse = (body: object, key: string) => expectInvalid(ann.put(path, body), key, new RegExp(`^${key} `));
  await refuse({ interval: '0 3 * * * *', intervalType: 'cron' }, 'interval');
  await refuse({ interval: '0 0 30 2 *', intervalType: 'cron' }, 'interval');
  await refuse({ interval: '5 seconds', intervalType: 'simple' }, 'interval');
  await refuse({ intervalType: 'cron' }, 'interval');
  await refuse({ interval: '0 3 * * *' }, 'intervalType');
  await refuse({ timezone: 'Mars/Olympus' }, 'timezone');
  await refuse({ intervalType: 'once' }, 'startOn');
  await refuse({ intervalType: 'once', startOn: '2001-01-01T00:00:00Z', enabled: true }, 'startOn');
  await refuse(
    { intervalType: 'simple', interval: '1 hour', startOn: '2030-01-02T00:00:00Z', endOn: '2030-01-01T00:00:00Z' },
    'endOn',
  );
  await expectBody(ann.get(path), 200, { interval: null, intervalType: null, startOn: null, timezone: 'UTC' });
});

test('a job is deleted by its owner, not by a share of level Admin', async ({ ann, bob }) => {
  const { id, path } = await createJob(ann);
  await expectStatus(ann.put(`${path}/shares/bob`, { accessLevel: 3 }), 200);
  await expectError(bob.delete(path), 403, 'You lack the permission job:delete');
  await expectGraphqlError(
    bob.gql(`mutation { deleteJob(id: "${id}") }`),
    'FORBIDDEN',
    'You lack the permission job:delete',
  );
  await expectStatus(ann.delete(path), 204);
  await expectStatus(ann.get(path), 404);
});

test('the flat list has each job with its owner, tags, shares and permissions', async ({ ann, bob }) => {
  const { id, path } = await createJob(ann, { name: 'Listed' });
  const tag = await ann.creates('/tags', { name: 'Nightly' });
  await expectStatus(ann.put(`${path}/tags/${tag.id}`), 200);
  await expectStatus(ann.put(`${path}/shares/bob`, { accessLevel: 2 }), 200);
  const listed = (who: typeof ann) =>
    who.get('/jobs-list').then(({ body }) => body.find((one: { id: string }) => one.id === id));
  const common = {
    id,
    name: 'Listed',
    type: 'actions',
    enabled: false,
    ownerId: ann.id,
    ownerName: 'ann',
    naturalId: 'default:listed',
    tags: [tag.id],
    sharing: [{ principalId: bob.id, accessLevel: 2 }],
  };
  expect(await listed(ann)).toEqual({
    ...common,
    permissions: { edit: true, write: true, delete: true, share: true },
  });
  expect(await listed(bob)).toEqual({
    ...common,
    permissions: { edit: true, write: true, delete: false, share: false },
  });
  const { jobsList } = await bob.data('{ jobsList { id permissions { delete } } }');
  expect(jobsList).toContainEqual({ id, permissions: { delete: false } });
});

test('the drivers describe the data of jobs and actions', async ({ ann }) => {
  const jobs = await ann.get('/job-drivers');
  expect(jobs.body._embedded['svc:job-driver'].map(({ id }: { id: string }) => id)).toEqual([
    'dataset-refresh',
    'actions',
  ]);
  const { jobActionDrivers } = await ann.data('{ jobActionDrivers { id schema } }');
  expect(jobActionDrivers.map(({ id }: { id: string }) => id)).toEqual([
    'refresh',
    'snapshot',
    'snapshot-cleanup',
    'export',
    'render-template',
    'sync-library',
    'email',
    'webhook',
    'notify',
  ]);
  expect(jobActionDrivers[7].schema.required).toEqual(['url']);
  const actions = await ann.get('/job-action-drivers?limit=2&start=1');
  expect(actions.body).toMatchObject({
    total: 9,
    count: 2,
    _embedded: { 'svc:job-action-driver': [{ id: 'snapshot' }, {}] },
  });
});
