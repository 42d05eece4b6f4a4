import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { sweepRecords } from '../../src/operations/janitor.ts';
import { dispatchEvents } from '../../src/services/agent/event-dispatch.ts';
import { createApp } from '../app/app-fixture.ts';
import { deployApp } from '../app/echo-app.ts';
import type { Client } from '../support/client.ts';
import { expectError, expectStatus } from '../support/expect.ts';
import { fillStorage, STORAGE_FULL } from '../support/full-storage.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { callOf, createAgent, createTools, insertEvents, onEvents, test } from './agent-fixture.ts';

const EMITTER = {
  'server/emit.js': `export const post = async ({ emit, request: { body } }) => {
    await emit(body.name, body.payload);
    return { status: 204 };
  };`,
  'webhooks/emit.js': `export const post = async ({ emit }) => {
    await emit('chained', null);
    return { status: 204 };
  };`,
};

/** Deploys an app of the admin whose handler emits, which the users may read. Returns a function that calls it. */
async function createEmitter(
  admin: Client,
  readers: readonly Client[],
): Promise<{ id: string; emit: (name: string, payload?: unknown) => Promise<void> }> {
  const id = await deployApp(admin, `Emitter ${newId()}`, EMITTER);
  for (const { username } of readers)
    await expectStatus(admin.put(`/apps/${id}/shares/${username}`, { accessLevel: 1 }), 200);
  return {
    id,
    emit: async (name, payload) => expectStatus(admin.post(`/apps/${id}/view/emit`, { name, payload }), 204),
  };
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

describe('an event of an app', () => {
  test('starts the agents that wait for it, with its payload', async ({ admin, ann, ai, service }) => {
    const { id, emit } = await createEmitter(admin, [ann]);
    const own = await createAgent(ann, onEvents(id, 'of.assistant'), onEvents(id, 'order.created'));
    const inherited = await createAgent(ann, onEvents(id, 'order.created'));
    const disabled = await createAgent(ann, onEvents(id, 'order.created'), { enabled: false });
    await emit('order.created', { order: 7 });
    await emit('of.assistant', { order: 8 });
    await emit('order', { order: 9 });
    await settled(service);
    const [run, ...others] = await runsOf(ann, own.path);
    expect(others).toEqual([]);
    expect(run).toMatchObject({
      trigger: 'event',
      status: 'succeeded',
      eventName: 'order.created',
      eventAppId: id,
      depth: 1,
      payload: { order: 7 },
      userId: null,
      output: expect.stringContaining(`You said: The payload of the event order.created of the app ${id}`),
    });
    expect(await runsOf(ann, inherited.path)).toHaveLength(1);
    expect(await runsOf(ann, disabled.path)).toEqual([]);
    expect(ai.counts.chat).toBe(2);
  });

  test('starts no agent whose owner may not read the app, was disabled or locked, or has not accepted it', async ({
    admin,
    ann,
    bob,
    service,
  }) => {
    const gone = await service.user(`gone-${newId()}`);
    const barred = await service.user(`barred-${newId()}`);
    const { id: appId, emit } = await createEmitter(admin, [ann, bob, gone, barred]);
    const ofBob = await createAgent(bob, onEvents(appId, 'secret'));
    await expectStatus(admin.delete(`/apps/${appId}/shares/bob`), 204);
    const ofGone = await createAgent(gone, onEvents(appId, 'secret'));
    const ofBarred = await createAgent(barred, onEvents(appId, 'secret'));
    const ofAnn = await createAgent(ann, onEvents(appId, 'secret'));
    await ann.put(`/assistants/${ofAnn.assistantId}/shares/bob`, { accessLevel: 2 });
    await bob.put(ofAnn.path, { instructions: 'Other' });
    const lost = await createAgent(ann, onEvents(appId, 'secret'));
    const { id } = await gone.creates('/agents', { name: 'x', assistantId: ofGone.assistantId });
    await admin.put(`/users/${gone.username}`, { enabled: false });
    await admin.put(`/users/${barred.username}`, { locked: true });
    await emit('secret');
    await settled(service);
    for (const path of [ofBob.path, ofGone.path, ofBarred.path, ofAnn.path, `/agents/${id}`])
      expect(await runsOf(admin, path)).toEqual([]);
    expect(await runsOf(admin, lost.path)).toHaveLength(1);
  });

  test('is recorded once if the agent ran too often', async ({ admin, ann, ai, service }) => {
    const { id } = await createEmitter(admin, [ann]);
    const agent = await createAgent(ann, onEvents(id, 'flood'));
    await insertEvents(service, id, 'flood', 70);
    await settled(service);
    await insertEvents(service, id, 'flood', 3);
    await settled(service);
    const rows = await systemQuery<{ status: string; refused: boolean; runs: number }>(
      service,
      `select status, refused, count(*)::int as runs from dws.agent_run where agent_id = $1 group by 1, 2 order by 2`,
      agent.id,
    );
    expect(rows).toEqual([
      { status: 'succeeded', refused: false, runs: 60 },
      { status: 'failed', refused: true, runs: 1 },
    ]);
    expect(ai.counts.chat).toBe(60);
    const runs = await runsOf(ann, agent.path);
    const refused = runs.find(({ status }: { status: string }) => status === 'failed');
    expect(refused.error).toMatch(/^The agent ran 60 times in an hour/);
    await expectError(ann.post(`${agent.path}/runs/${refused.id}/_cancel`), 409, 'The run has already ended');
  });

  test('without credits is recorded as failed', async ({ admin, ann, ai, service }) => {
    const { id, emit } = await createEmitter(admin, [ann]);
    const agent = await createAgent(ann, onEvents(id, 'expensive'));
    await systemQuery(service, `update dws.usage_profile set credit_cap_per_month = 0 where slug = 'standard'`);
    await emit('expensive');
    await settled(service);
    await systemQuery(service, `update dws.usage_profile set credit_cap_per_month = 1000 where slug = 'standard'`);
    expect(await runsOf(ann, agent.path)).toMatchObject([
      { status: 'failed', credits: 0, error: expect.stringMatching(/credits/) },
    ]);
    expect(ai.counts.chat).toBe(0);
  });

  test('on a full quota is recorded as failed, and calls and charges nothing', async ({ admin, ann, ai, service }) => {
    const { id } = await createEmitter(admin, [ann]);
    const agent = await createAgent(ann, onEvents(id, 'stored'));
    const empty = await fillStorage(service);
    await insertEvents(service, id, 'stored');
    await settled(service);
    await expectError(ann.post(`${agent.path}/_run`, {}), 413, STORAGE_FULL);
    const [run, ...others] = await runsOf(ann, agent.path);
    expect(others).toEqual([]);
    expect(run).toMatchObject({ status: 'failed', error: STORAGE_FULL, credits: 0, steps: [] });
    const { agent: read } = await ann.data(`{ agent(id: "${agent.id}") { runs { status error credits } } }`);
    expect(read.runs).toEqual([{ status: 'FAILED', error: STORAGE_FULL, credits: 0 }]);
    expect(ai.counts.chat).toBe(0);
    expect(await systemQuery(service, 'select id from dws.credit_reservation')).toEqual([]);
    await empty();
    await insertEvents(service, id, 'stored');
    await settled(service);
    expect(ai.counts.chat).toBe(1);
  });
});

describe('a chain of agents', () => {
  test('ends after three runs', async ({ admin, eve, ai, service }) => {
    const { id } = await createEmitter(admin, [eve]);
    const toolkitId = await createTools(eve, [
      { name: 'hook', request: { url: `${service.url}/api/apps/${id}/_hook/emit`, method: 'POST' } },
    ]);
    const agent = await createAgent(eve, { toolkitIds: [toolkitId], ...onEvents(id, 'chained') });
    for (let run = 0; run < 6; run += 1) ai.script.push(callOf('hook'), { content: 'done' });
    await expectStatus(eve.post(`${agent.path}/_run`, {}), 200);
    await expect.poll(async () => (await runsOf(eve, agent.path)).length).toBe(3);
    await settled(service);
    const runs = await runsOf(eve, agent.path);
    expect(runs.map(({ depth }: { depth: number }) => depth).toSorted()).toEqual([1, 2, 3]);
    const last = runs.find(({ depth }: { depth: number }) => depth === 3);
    expect(last.steps[0].toolCalls[0]).toMatchObject({
      error: 'The host responded with 503',
      result: expect.stringMatching(/3 deep/),
    });
  });

  test('cannot be continued by events that are too deep, nor begun by a forged header', async ({
    admin,
    ann,
    ai,
    service,
    anonymous,
  }) => {
    const { id } = await createEmitter(admin, [ann]);
    const agent = await createAgent(ann, onEvents(id, 'deep', 'chained'));
    await insertEvents(service, id, 'deep', 1, 3);
    await settled(service);
    expect(ai.counts.chat).toBe(0);
    const header = `2.${newId()}.${'x'.repeat(22)}`;
    await expectStatus(anonymous.post(`/apps/${id}/_hook/emit`, {}, { 'dws-agent-chain': header }), 204);
    await settled(service);
    expect(await runsOf(ann, agent.path)).toMatchObject([{ depth: 1 }]);
  });
});

describe('the dispatch', () => {
  test('starts each agent once for an event, also with several processes', async ({ admin, ann, service }) => {
    const second = await startService({ OUTBOUND_ALLOW: '127.0.0.1' }, { databaseUrl: service.databaseUrl });
    try {
      const appId = await createApp(admin, `Many ${newId()}`);
      await admin.put(`/apps/${appId}/shares/ann`, { accessLevel: 1 });
      const agents = await Promise.all([1, 2, 3].map(() => createAgent(ann, onEvents(appId, 'many'))));
      await insertEvents(service, appId, 'many', 50);
      await Promise.all([service, second, service, second].map(({ platform }) => dispatchEvents(platform)));
      await settled(service);
      const rows = await systemQuery<{ runs: number; events: number; operations: number }>(
        service,
        `select count(*)::int as runs, count(distinct event_id)::int as events, count(distinct operation_id)::int as operations
        from dws.agent_run where agent_id = any($1) group by agent_id`,
        agents.map(({ id }) => id),
      );
      expect(rows).toEqual([1, 2, 3].map(() => ({ runs: 50, events: 50, operations: 50 })));
    } finally {
      await second.close();
    }
  });

  test('undoes all of a pass that fails', async ({ admin, ann, service }) => {
    const appId = await createApp(admin, `Failing ${newId()}`);
    await admin.put(`/apps/${appId}/shares/ann`, { accessLevel: 1 });
    const agent = await createAgent(ann, onEvents(appId, 'failing'));
    await settled(service);
    await insertEvents(service, appId, 'failing', 1);
    const queue = { ...service.platform.queue, send: () => Promise.reject(new Error('The queue is gone')) };
    await dispatchEvents({ ...service.platform, queue }).catch(() => undefined);
    await settled(service);
    expect(await runsOf(ann, agent.path)).toHaveLength(1);
  });

  test.for([
    ['tenant', 280],
    ['user', 290],
  ] as const)(
    'takes 20 events of a tenant at a time, so that others of another %s wait for one pass',
    async ([kind, left], { admin, stranger, service }) => {
      const other = kind === 'user' ? await service.user('maker', { permissions: ['apps:create'] }) : stranger;
      const appId = await createApp(admin, `Loud ${newId()}`);
      const otherId = await createApp(other, `Quiet ${newId()}`);
      await settled(service);
      await service.platform.system.transaction(async (query) => {
        const insert = (id: string, count: number) =>
          query({
            text: `
            insert into dws.app_event (id, tenant_id, app_id, name, payload, principal, depth)
            select uuidv7(), tenant_id, id, 'x', '1', owner_id, 0 from dws.app, generate_series(1, $2) where dws.app.id = $1`,
            values: [id, count],
          });
        await insert(appId, 300);
        await insert(otherId, 10);
      });
      await dispatchEvents(service.platform);
      const waiting = await systemQuery(
        service,
        `select app_id as "appId", count(*)::int from dws.app_event where dispatched_at is null group by 1`,
      );
      expect(waiting).toEqual([{ appId, count: left }]);
      await settled(service);
    },
  );

  test('keeps runs for 400 days', async ({ ann, ai: _, service }) => {
    const agent = await createAgent(ann);
    await ann.post(`${agent.path}/_run`, {});
    await systemQuery(
      service,
      `update dws.agent_run set created_at = now() - interval '401 days' where agent_id = $1`,
      agent.id,
    );
    await service.platform.system.transaction(sweepRecords);
    expect(await runsOf(ann, agent.path)).toEqual([]);
  });
});

test('events start at most 240 runs of an owner in an hour, whatever agents there were', async ({
  admin,
  ai,
  service,
}) => {
  const owner = await service.user(`busy-${newId()}`);
  const { id } = await createEmitter(admin, [owner]);
  const agent = await createAgent(owner, {}, onEvents(id, 'busy'));
  // Of agents that were deleted.
  await systemQuery(
    service,
    `insert into dws.operation (id, work_id, tenant_id, user_id, operation, resource_kind, resource_id, input, status, finished_at)
    select n.id, n.id, a.tenant_id, a.owner_id, 'agent.run', 'agent', gen_random_uuid(),
      jsonb_build_object('ownerId', a.owner_id), 'succeeded', now()
    from dws.agent a, lateral (select gen_random_uuid() as id, a.id as agent_id from generate_series(1, 239)) n
    where a.id = $1`,
    agent.id,
  );
  const before = ai.counts.chat;
  await insertEvents(service, id, 'busy', 3);
  await settled(service);
  expect(ai.counts.chat - before).toBe(1);
  expect(JSON.stringify(await runsOf(owner, agent.path))).toContain('The agents of the owner ran 240 times in an hour');
});

test('an event starts at most 100 agents of one owner, the oldest', async ({ admin, ai, service }) => {
  const owner = await service.user(`crowd-${newId()}`);
  const { id } = await createEmitter(admin, [owner]);
  const { id: agentId } = await createAgent(owner, {}, onEvents(id, 'crowd'));
  await systemQuery(
    service,
    `insert into dws.agent (id, tenant_id, name, assistant_id, owner_id, events, accepted_apps)
    select gen_random_uuid(), tenant_id, name, assistant_id, owner_id, events, accepted_apps
    from dws.agent, generate_series(1, 120) where id = $1`,
    agentId,
  );
  await insertEvents(service, id, 'crowd', 1);
  await settled(service);
  expect(ai.counts.chat).toBe(100);
});
