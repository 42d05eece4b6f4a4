import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { dispatchEvents } from '../../src/services/agent/event-dispatch.ts';
import { createApp } from '../app/app-fixture.ts';
import { callApi, servicesFor } from '../app/handler-services-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createAgent, insertEvents, onEvents, test } from './agent-fixture.ts';

/** Creates an app of a user that others may read. Returns its id. */
async function createSharedApp(admin: Client, owner: Client, readers: readonly Client[]): Promise<string> {
  const id = await createApp(admin, `App ${newId()}`);
  for (const { username } of readers)
    await expectStatus(admin.put(`/apps/${id}/shares/${username}`, { accessLevel: 1 }), 200);
  if (owner.id !== admin.id) await expectStatus(admin.put(`/apps/${id}/owner`, { ownerId: owner.id }), 200);
  return id;
}

const runsOf = async (client: Client, path: string) =>
  (await client.get(`${path}/runs`)).body._embedded['svc:agent-run'];

/** Waits until no event waits and every run has ended. */
const settled = (service: Service) =>
  expect
    .poll(() =>
      systemQuery(
        service,
        `select id from dws.app_event where dispatched_at is null
        union all select id from dws.agent_run where finished_at is null`,
      ),
    )
    .toEqual([]);

/** Returns how many runs an event of the app starts, with two processes. */
async function countRuns(service: Service, client: Client, path: string, appId: string, name: string): Promise<number> {
  const before = (await runsOf(client, path)).length;
  await insertEvents(service, appId, name);
  await settled(service);
  return (await runsOf(client, path)).length - before;
}

const suspendedOf = async (client: Client, path: string) =>
  (await client.get(path)).body.eventApps.map(({ suspended }: { suspended: boolean }) => suspended);

const notificationsOf = async (client: Client, path: string) =>
  (await client.get('/notifications')).body._embedded['svc:notification'].filter(
    ({ resource }: { resource: { id: string } }) => `/agents/${resource.id}` === path,
  );

describe('an event', () => {
  test('of an app starts no agent that is bound to another app', async ({ admin, ann, bob, service }) => {
    const own = await createSharedApp(admin, ann, []);
    const agent = await createAgent(ann, onEvents(own, 'order'));
    const { emit } = await servicesFor(service, bob, await createSharedApp(admin, bob, [ann]));
    await emit('order', { note: 'FORGED' });
    await settled(service);
    expect(await runsOf(ann, agent.path)).toEqual([]);
    expect(await countRuns(service, ann, agent.path, own, 'order')).toBe(1);
  });

  test('is a pair of app and name, in both APIs', async ({ ann, admin }) => {
    const appId = await createSharedApp(admin, ann, []);
    const { id: assistantId, slug } = await ann.creates('/assistants', { name: `A ${newId()}` });
    await expectError(ann.post('/assistants', { name: 'x', events: ['order'] }), 400, /events/);
    await expectError(ann.post('/agents', { name: 'x', assistantId, events: ['order'] }), 400, /events/);
    await expectError(ann.put(`/assistants/${slug}`, { events: [{ name: 'order' }] }), 400, /appId/);
    const create = `mutation ($events: [AppEventInput!]) {
      createAgent(input: { name: "Clerk", assistantId: "${assistantId}", events: $events }) {
        id events { appId name app { id } } eventApps { appId app { id } owner { id type } suspended }
      }
    }`;
    await expectGraphqlError(ann.gql(create, { events: ['order'] }), 'BAD_USER_INPUT', /events/);
    const { createAgent: created } = await ann.data(create, onEvents(appId, 'order'));
    expect(created).toMatchObject({
      events: [{ appId, name: 'order', app: { id: appId } }],
      eventApps: [{ appId, app: { id: appId }, owner: { id: ann.id, type: 'USER' }, suspended: false }],
    });
    // A record that was read can be sent back.
    const { events } = (await ann.get(`/agents/${created.id}`)).body;
    await expectBody(ann.put(`/agents/${created.id}`, { events }), 200, onEvents(appId, 'order'));
  });
});

describe('a binding', () => {
  test('needs an app that the caller can read, and stays for others', async ({ admin, ann, bob, stranger }) => {
    const hidden = await createSharedApp(admin, admin, []);
    const foreign = await createApp(stranger, `Foreign ${newId()}`);
    for (const appId of [hidden, foreign, UNKNOWN_ID]) {
      await expectError(ann.post('/assistants', { name: 'x', ...onEvents(appId, 'a') }), 404, /app/);
      const { path } = await createAgent(ann);
      await expectError(ann.put(path, onEvents(appId, 'a')), 404, /app/);
    }
    const shared = await createSharedApp(admin, ann, []);
    const { path, assistantId } = await createAgent(ann, {}, onEvents(shared, 'a'));
    await ann.put(`/assistants/${assistantId}/shares/bob`, { accessLevel: 2 });
    await expectBody(bob.put(path, { ...onEvents(shared, 'a'), name: 'Kept' }), 200, { accepted: true, name: 'Kept' });
    await expectError(bob.put(path, onEvents(shared, 'a', 'b')), 404, /app/);
  });

  test('of another user starts nothing before the owner accepts it', async ({ admin, ann, bob, service }) => {
    const appId = await createSharedApp(admin, bob, [ann]);
    const { path, assistantId } = await createAgent(ann);
    await ann.put(`/assistants/${assistantId}/shares/bob`, { accessLevel: 2 });
    for (const target of [path, `/assistants/${assistantId}`]) {
      await expectStatus(bob.put(target, onEvents(appId, 'a')), 200);
      await expectBody(ann.get(path), 200, {
        accepted: false,
        eventApps: [{ appId, owner: { id: bob.id, name: 'bob', type: 'user' }, suspended: true }],
      });
      expect(await countRuns(service, ann, path, appId, 'a')).toBe(0);
      await expectBody(ann.put(path, { enabled: true }), 200, { accepted: true });
      expect(await suspendedOf(ann, path)).toEqual([false]);
      expect(await countRuns(service, ann, path, appId, 'a')).toBe(1);
      await expectStatus(ann.put(path, { events: null }), 200);
    }
  });

  test('of an assistant is accepted for the own agents of who writes it', async ({ admin, ann, bob, service }) => {
    const appId = await createSharedApp(admin, bob, [ann]);
    const { path, assistantId } = await createAgent(ann);
    await ann.put(`/assistants/${assistantId}/shares/bob`, { accessLevel: 2 });
    const { id } = await bob.creates('/agents', { name: 'Of bob', assistantId });
    await expectStatus(bob.put(`/assistants/${assistantId}`, onEvents(appId, 'a')), 200);
    expect(await suspendedOf(bob, `/agents/${id}`)).toEqual([false]);
    expect(await suspendedOf(bob, path)).toEqual([true]);
    // By a run, too.
    await expectStatus(ann.post(`${path}/_run`, {}), 200);
    expect(await suspendedOf(bob, path)).toEqual([false]);
    const handler = await servicesFor(service, bob, await createApp(admin, `App ${newId()}`));
    const other = await createSharedApp(admin, bob, [ann]);
    await expectStatus(callApi(handler, 'PUT', `/api/assistants/${assistantId}`, onEvents(other, 'a')), 200);
    expect([await suspendedOf(bob, path), await suspendedOf(bob, `/agents/${id}`)]).toEqual([[true], [true]]);
  });
});

describe('another owner of the app', () => {
  test.for(['agent', 'assistant'])(
    'suspends the binding of an %s until it is accepted again',
    async (kind, { admin, ann, bob, service, ai: _ }) => {
      const appId = await createSharedApp(admin, admin, [ann, bob]);
      const bound = onEvents(appId, 'a');
      const { path } = kind === 'agent' ? await createAgent(ann, {}, bound) : await createAgent(ann, bound);
      expect(await countRuns(service, ann, path, appId, 'a')).toBe(1);
      const { headers } = await ann.get(path);
      const ifMatch = { 'if-match': headers.get('etag')! };
      await expectStatus(admin.put(`/apps/${appId}/owner`, { ownerId: bob.id }), 200);
      await expectBody(ann.get(path), 200, {
        accepted: true,
        eventApps: [{ appId, owner: { id: bob.id }, suspended: true }],
      });
      expect(await notificationsOf(ann, path)).toMatchObject([
        { type: 'agent.events.suspended', message: expect.stringContaining('got another owner') },
      ]);
      expect(await countRuns(service, ann, path, appId, 'a')).toBe(0);
      // Neither the former owner, nor a run by hand, nor who saw the former owner accepts it.
      await expectStatus(bob.put(`/apps/${appId}/owner`, { ownerId: admin.id }), 200);
      await expectStatus(ann.post(`${path}/_run`, {}), 200);
      await expectStatus(ann.put(path, { enabled: true }, ifMatch), 412);
      expect(await countRuns(service, ann, path, appId, 'a')).toBe(0);
      await expectStatus(ann.put(path, { enabled: true }), 200);
      expect(await suspendedOf(ann, path)).toEqual([false]);
      expect(await countRuns(service, ann, path, appId, 'a')).toBe(1);
    },
  );

  test('by the deletion of a user suspends it, too', async ({ admin, ann, bob, service }) => {
    const leaver = await service.user(`leaver-${newId()}`);
    const appId = await createSharedApp(admin, leaver, [ann]);
    const { path } = await createAgent(ann, {}, onEvents(appId, 'a'));
    await expectStatus(admin.delete(`/users/${leaver.username}?transferTo=${bob.username}`), 204);
    expect(await suspendedOf(ann, path)).toEqual([true]);
    expect(await countRuns(service, ann, path, appId, 'a')).toBe(0);
  });
});

test('a deleted app leaves bindings that start nothing, and no others take their place', async ({
  admin,
  ann,
  service,
}) => {
  const [appId, other] = [await createSharedApp(admin, ann, []), await createSharedApp(admin, ann, [])];
  const { path } = await createAgent(ann, onEvents(other, 'a'), onEvents(appId, 'a'));
  await expectStatus(ann.delete(`/apps/${appId}`), 204);
  await expectBody(ann.get(path), 200, {
    ...onEvents(appId, 'a'),
    eventApps: [{ appId, owner: null, suspended: true }],
  });
  expect(await countRuns(service, ann, path, other, 'a')).toBe(0);
  await expectBody(ann.put(path, { ...onEvents(appId, 'a'), name: 'Kept' }), 200, { name: 'Kept' });
});

describe('one of several', () => {
  const countOf = async (service: Service, agentId: string) =>
    systemQuery(
      service,
      `select event_app_id as "appId", event_name as name, refused, count(*)::int as runs
      from dws.agent_run where agent_id = $1 group by 1, 2, 3 order by 3, 4 desc, 2`,
      agentId,
    );

  test('apps starts an agent 30 times in an hour, with several processes', async ({ admin, ann, service }) => {
    const second = await startService({ OUTBOUND_ALLOW: '127.0.0.1' }, { databaseUrl: service.databaseUrl });
    try {
      const [loud, quiet] = [await createSharedApp(admin, ann, []), await createSharedApp(admin, ann, [])];
      const events = [...onEvents(loud, 'a', 'b').events, ...onEvents(quiet, 'a').events];
      const { id } = await createAgent(ann, {}, { events });
      await insertEvents(service, loud, 'a', 20);
      await insertEvents(service, loud, 'b', 20);
      await Promise.all([service, second].map(({ platform }) => dispatchEvents(platform)));
      await settled(service);
      await insertEvents(service, quiet, 'a', 35);
      await settled(service);
      const rows = await countOf(service, id);
      const ofApp = (appId: string) =>
        rows.filter((row) => row.appId === appId && !row.refused).reduce((sum, row) => sum + Number(row.runs), 0);
      expect([ofApp(loud), ofApp(quiet)]).toEqual([30, 30]);
      const text = `select event_app_id as "appId", error from dws.agent_run where agent_id = $1 and refused`;
      const error = expect.stringMatching(/^The agent ran 30 times in an hour on events of one app of several/);
      expect(await systemQuery(service, text, id)).toEqual([{ appId: loud, error }]);
    } finally {
      await second.close();
    }
  });

  test('events of one app starts an agent 30 times in an hour', async ({ admin, ann, service }) => {
    const appId = await createSharedApp(admin, ann, []);
    const { id } = await createAgent(ann, {}, onEvents(appId, 'a', 'b'));
    await insertEvents(service, appId, 'a', 33);
    await insertEvents(service, appId, 'b', 2);
    await settled(service);
    expect(await countOf(service, id)).toEqual([
      { appId, name: 'a', refused: false, runs: 30 },
      { appId, name: 'b', refused: false, runs: 2 },
      { appId, name: 'a', refused: true, runs: 1 },
    ]);
  });
});
