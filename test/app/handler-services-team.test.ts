import { expect } from 'vitest';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { test as base } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';
import { createTeam } from '../support/team-fixture.ts';
import { createForm, ORDERS } from '../support/upload-form.ts';
import { createRenderable } from '../template/render-fixture.ts';
import { createApp } from './app-fixture.ts';
import { callApi, servicesFor } from './handler-services-fixture.ts';

/** A team with a dataset of its own, and what the webhook of an app of the team can do. */
const test = base.extend<{ world: { team: string; dataset: string; call: CallApi } }>({
  world: [
    async ({ service, admin, ann }, use) => {
      const team = await createTeam(admin, 'Owners', ann);
      const { body } = await admin.request('POST', '/api/datasets/_upload', createForm(ORDERS));
      for (const path of [`/datasets/${body.id}`, `/datasources/${body.datasourceId}`])
        await expectStatus(admin.put(`${path}/owner`, { ownerId: `team:${team}` }), 200);
      const services = await servicesFor(service, `team:${team}`, await createApp(admin, 'Of a team'));
      const call: CallApi = async (method, path, more) => (await callApi(services, method, path, more)) as never;
      await use({ team, dataset: `/api/datasets/${body.id}`, call });
    },
    { scope: 'file' },
  ],
});
type CallApi = (method: string, path: string, body?: object) => Promise<any>;

test('a team reads and changes what it owns, and nothing else', async ({ admin, world: { call, dataset, team } }) => {
  const { id } = await admin.creates('/reports', { name: 'Of the admin' });
  await expectError(call('GET', `/api/reports/${id}`), 404);
  await expectError(call('POST', '/api/reports', { name: 'x' }), 403, 'You lack the permission reports:create');
  await expectBody(call('GET', `${dataset}/data`), 200, { total: 3 });
  await expectBody(call('PUT', dataset, { description: 'By the team' }), 200, { ownerId: `team:${team}` });
  await expectStatus(call('POST', `${dataset}/_refresh`), 200);
});

test('what a team creates is of the team, and of no user', async ({ admin, world: { call, dataset, team } }) => {
  await expectBody(call('POST', `${dataset}/filters`, { name: 'EU', criteria: { region: 'EU' } }), 200, {
    ownerId: `team:${team}`,
  });
  await expectBody(call('POST', `${dataset}/visuals`, { name: 'Rows', component: 'table' }), 200, { ownerId: null });
  await expectBody(call('POST', '/api/tags', { name: 'By a team' }), 201, { creatorId: null });
  await expectBody(call('POST', `/api/teams/${team}/comments`, { message: 'Done' }), 201, { userId: null });
  const draft = await call('POST', `${dataset}/_edit`);
  expect(draft).toMatchObject({ status: 200, body: { isDraft: true, ownerId: `team:${team}` } });
  expect((await call('POST', `${dataset}/_edit`)).body.id).toBe(draft.body.id);
  const job = await admin.creates('/jobs', { name: 'Nightly', type: 'actions', ownerId: `team:${team}` });
  await expectBody(call('POST', `/api/jobs/${job.id}`, {}), 200, { success: true });
  await expectBody(admin.get(`/jobs/${job.id}/history`), 200, {
    _embedded: { 'svc:job-history': [{ userId: null, status: 'succeeded' }] },
  });
});

test('what only users have is refused', async ({ world: { call, dataset, team } }) => {
  const refusal = 'Only users have this: the request comes from a team';
  await expectError(call('PUT', `${dataset}/favorite`), 403, refusal);
  await expectError(call('PUT', `${dataset}/user-settings`, { settings: {} }), 403, refusal);
  await expectError(call('POST', `/api/teams/${team}/_markFeedViewed`, { activityIds: [] }), 403, refusal);
  await expectError(call('GET', '/api/me'), 404);
});

test('a team renders templates, and its documents go with it', async ({ service, admin, world: { call, team } }) => {
  const files = { 'main.html': '<b>{{ 1 + 1 }}</b>' };
  const template = await createRenderable(admin, { files }, { ownerId: `team:${team}` });
  const rendered = await call('POST', `/api${template.path}/_render`, {});
  expect({ status: rendered.status, body: rendered.body }).toEqual({ status: 200, body: '<b>2</b>' });
  const renditions = () => systemQuery(service, 'select id from dws.rendition where user_id = $1', team);
  expect(await renditions()).toHaveLength(1);
  await expectStatus(admin.delete(`/teams/${team}`), 204);
  expect(await renditions()).toEqual([]);
});
