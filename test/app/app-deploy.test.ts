import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createApp, putFile } from './app-fixture.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

const ORDERS = {
  'migrations/1.sql': 'create table orders (id integer primary key)',
  'lib/answer.ts': 'export const answer: number = 42;',
  'server/index.js': 'export const GET = () => 1;',
  'server/orders/[id].ts': `
    import { answer } from '../../lib/answer.ts';
    import type { Shape } from './_shape.ts';
    export const config = { timeout: 100 * answer };
    export async function get(context: { request: unknown }): Promise<Shape> { return { answer }; }
    const remove = () => null;
    export { remove as delete };`,
  'server/orders/_shape.ts': 'export interface Shape { answer: number }',
  'server/orders/new.js': 'export function post() {}',
  'webhooks/orders/[id].ts': `export const post = () => 1;
    export const config = { maxBody: 1000, verify: { scheme: 'github', secret: 'KEY' }, idempotency: { header: 'x-id' } };`,
  'README.md': 'no code',
};

const deployed = (client: Client, id: string) => client.post(`/apps/${id}/_deploy`);
const releasesOf = async (client: Client, id: string) =>
  (await client.get(`/apps/${id}/releases`)).body._embedded['svc:release'] as Record<string, unknown>[];

test('a deployment runs migrations and lists the routes in the order in which they match', async ({ admin }) => {
  const id = await createApp(admin, 'Orders', ORDERS);
  const { status, body } = await deployed(admin, id);
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      releaseId: expect.any(String),
      migrated: ['1.sql'],
      total: 1,
      routes: [
        { method: 'get', path: '/', handlerPath: 'server/index.js', config: {} },
        { method: 'post', path: '/orders/new', handlerPath: 'server/orders/new.js', config: {} },
        { method: 'get', path: '/orders/:id', handlerPath: 'server/orders/[id].ts', config: { timeout: 4200 } },
        { method: 'delete', path: '/orders/:id', handlerPath: 'server/orders/[id].ts', config: { timeout: 4200 } },
      ],
      webhooks: [
        {
          method: 'post',
          path: '/orders/:id',
          handlerPath: 'webhooks/orders/[id].ts',
          config: {
            maxBody: 1000,
            verify: { scheme: 'github', secret: 'KEY' },
            idempotency: { header: 'x-id' },
            public: true,
          },
        },
      ],
      deployedAt: TIME,
    },
  });
  const { deployedAt } = body;
  expect((await admin.get(`/apps/${id}`)).body).toMatchObject({ status: 'deployed', deployedAt });
  expect(await releasesOf(admin, id)).toEqual([
    {
      id: body.releaseId,
      number: 1,
      active: true,
      deployedAt,
      deployedBy: admin.id,
      access: { scopes: [], required: [], hosts: [] },
      _links: expect.objectContaining({ 'svc:app': { href: `/api/apps/${id}` } }),
    },
  ]);
  expect((await deployed(admin, id)).body).toMatchObject({ migrated: [], total: 1 });
});

test('GraphQL deploys, lists releases and rolls back', async ({ admin }) => {
  const id = await createApp(admin, 'Graph', { 'server/a.js': 'export const get = () => 1' });
  const mutation = `mutation ($id: ID!, $wait: Boolean! = true) { deployApp(id: $id, progress: "mine", wait: $wait) {
    operation { operation status resource { kind id } }
    result { releaseId release { number deployedAt } migrated total routes { method path handlerPath config } webhooks { path } } } }`;
  const first = (await admin.gql(mutation, { id })).data!['deployApp'] as Record<string, any>;
  expect(first).toEqual({
    operation: { operation: 'APP_DEPLOY', status: 'SUCCEEDED', resource: { kind: 'APP', id } },
    result: {
      releaseId: expect.any(String),
      release: { number: 1, deployedAt: TIME },
      migrated: [],
      total: 0,
      routes: [{ method: 'get', path: '/a', handlerPath: 'server/a.js', config: {} }],
      webhooks: [],
    },
  });
  await admin.gql(mutation, { id });
  const { releaseId } = first['result'];
  const rollback =
    'mutation ($id: ID!, $releaseId: ID!) { rollbackApp(id: $id, releaseId: $releaseId) { id number active app { id } user { id } } }';
  expect((await admin.gql(rollback, { id, releaseId })).data).toEqual({
    rollbackApp: { id: releaseId, number: 1, active: true, app: { id }, user: { id: admin.id } },
  });
  const list = 'query ($id: ID!) { app(id: $id) { releases { number active routes { path } } } }';
  expect((await admin.gql(list, { id })).data).toEqual({
    app: {
      releases: [
        { number: 2, active: false, routes: [{ path: '/a' }] },
        { number: 1, active: true, routes: [{ path: '/a' }] },
      ],
    },
  });
});

test('a failed deployment leaves the release before live', async ({ admin }) => {
  const id = await createApp(admin, 'Failing', { 'server/a.js': 'export const get = () => 1' });
  const { releaseId, deployedAt } = (await deployed(admin, id)).body;
  await putFile(admin, id, 'server/b.js', 'export const get = 1');
  await expectError(deployed(admin, id), 400, 'server/b.js: The export get is not a function');
  expect((await admin.get(`/apps/${id}`)).body).toMatchObject({ status: 'failed', deployedAt });
  await putFile(admin, id, 'server/b.js', 'export const get = () => 2');
  await putFile(admin, id, 'migrations/1.sql', 'select nothing');
  await expectError(deployed(admin, id), 500, 'migrations/1.sql:1: column "nothing" does not exist');
  expect(await releasesOf(admin, id)).toMatchObject([{ id: releaseId, active: true }]);
  await expectBody(admin.post(`/apps/${id}/_rollback`, { releaseId }), 200, { id: releaseId, active: true });
  expect((await admin.get(`/apps/${id}`)).body).toMatchObject({ status: 'deployed', deployedAt });
});

test('an app without code has a release without routes', async ({ admin }) => {
  const id = await createApp(admin, 'Empty');
  await expectBody(deployed(admin, id), 200, { migrated: [], total: 0, routes: [], webhooks: [] });
});

test('a caller that does not wait follows the deployment', async ({ admin }) => {
  const id = await createApp(admin, 'Later', { 'server/a.js': 'export const get = 1' });
  const started = await admin.post(`/apps/${id}/_deploy`, { progress: 'later' }, { prefer: 'respond-async' });
  await expectBody(started as never, 202, { operation: 'app.deploy', resource: { kind: 'app', id } });
  let operation = { status: 'queued', error: null };
  while (['queued', 'running'].includes(operation.status)) operation = (await admin.get('/progress/later')).body;
  expect(operation).toMatchObject({
    status: 'failed',
    error: { statusCode: 400, validation: [{ path: ['server/a.js'], code: 'CODE' }] },
  });
});

test('deployments and migrations of an app run one at a time', async ({ admin }) => {
  const id = await createApp(admin, 'Twice', { ...ORDERS, 'migrations/2.sql': 'select pg_sleep(0.1)' });
  const runs = await Promise.all(
    ['_deploy', '_migrate', '_deploy'].map((action) => admin.post(`/apps/${id}/${action}`)),
  );
  expect(runs.map(({ status, body }) => [status, body.total])).toEqual([
    [200, 2],
    [200, 2],
    [200, 2],
  ]);
  expect(runs.flatMap(({ body }) => body.migrated)).toHaveLength(2);
  expect((await releasesOf(admin, id)).map(({ number, active }) => [number, active])).toEqual([
    [2, true],
    [1, false],
  ]);
});

test('deploying requires write access to the app', async ({ admin, ann, bob, anonymous, service }) => {
  const { id } = await admin.creates('/apps', { name: 'Shared', ownerId: ann.id });
  const { releaseId } = (await deployed(ann, id)).body;
  const calls: [string, (client: Client) => Promise<any>][] = [
    ['deploy', (client) => deployed(client, id)],
    ['roll back', (client) => client.post(`/apps/${id}/_rollback`, { releaseId })],
    ['list', (client) => client.get(`/apps/${id}/releases`)],
  ];
  const statuses = async (client: Client) => Promise.all(calls.map(async ([, call]) => (await call(client)).status));
  expect(await statuses(anonymous)).toEqual([401, 401, 401]);
  expect(await statuses(bob)).toEqual([404, 404, 404]);
  await ann.put(`/apps/${id}/shares/bob`, { accessLevel: 1 });
  expect(await statuses(bob)).toEqual([403, 403, 403]);
  const node = 'query ($id: ID!) { node(id: $id) { ... on AppRelease { number } } }';
  expect((await bob.gql(node, { id: releaseId })).data).toEqual({ node: null });
  expect((await ann.gql(node, { id: releaseId })).data).toEqual({ node: { number: 1 } });
  await ann.put(`/apps/${id}/shares/bob`, { accessLevel: 2 });
  expect(await statuses(bob)).toEqual([200, 200, 200]);
  const reader = await service.user('reader', { scopes: ['read'] });
  await ann.put(`/apps/${id}/shares/reader`, { accessLevel: 2 });
  expect(await statuses(reader)).toEqual([403, 403, 200]);
});
