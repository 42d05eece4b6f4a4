import { describe, expect } from 'vitest';
import type { AiFake, FakeBehavior } from '../../tools/ai-fake/fake-provider.ts';
import type { Client } from '../support/client.ts';
import { loseEnds } from '../support/failing-end.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { WRONG_TOTALS } from '../support/usage-fixture.ts';
import { callOf, createAgent, createTools, test, type TestAgent } from './agent-fixture.ts';

/* Sent calls are charged, whatever happens afterwards; refused calls, and calls that were not sent, are not. */

/** Returns what the ledger, the runs and the audit say of an agent, and what is still reserved. */
const costsOf = async (service: Service, { id }: Pick<TestAgent, 'id'>) => {
  const [sums] = await systemQuery<{ charged: number; stated: number; reserved: number }>(
    service,
    `select (select coalesce(sum(credits), 0)::float8 from dws.usage_event where entity_id = $1) as charged,
      (select coalesce(sum(credits), 0)::float8 from dws.agent_run where agent_id = $1) as stated,
      (select count(*)::int from dws.credit_reservation where actor = 'agent:' || $1::text) as reserved`,
    id,
  );
  const calls = await systemQuery<{ status: string; credits: number | null }>(
    service,
    `select status, credits::float8 as credits from dws.ai_call where entity_id = $1 order by created_at, id`,
    id,
  );
  return { ...sums!, calls };
};

/** Returns the credits that a run reserves for its call, without the credit of the run. */
const reservedFor = async (client: Client, { id }: TestAgent): Promise<number> =>
  (await client.creates('/usage/quote', { action: 'agentRun', agentId: id })).credits - 1;

const RESERVED = 'reserved';
const usage = { prompt_tokens: 4000, completion_tokens: 0 };

describe('a call that ends badly', () => {
  test.for<[string, FakeBehavior, number | typeof RESERVED | null]>([
    ['refused as wrong', { status: 400 }, null],
    ['refused as too much', { status: 429, headers: { 'retry-after': '301' } }, null],
    ['failed at the provider', { status: 500 }, null],
    ['cut off before a response', { isCut: true }, RESERVED],
    ['cut off in the response', { isCut: 'within' }, RESERVED],
    ['unreadable', { body: 'no JSON' }, RESERVED],
    ['unusable, with figures', { body: { choices: [], usage } }, 0.2],
    [
      'unusable, with figures past what is reserved',
      { body: { usage: { prompt_tokens: 9e8, completion_tokens: 9e8 } } },
      RESERVED,
    ],
  ])('%s: what the provider bills, in both APIs', async ([, behavior, expected], { ann, ai, service }) => {
    const starts = [
      (path: string) => ann.post(`${path}/_run`, { payload: null }),
      (path: string) =>
        ann.data(
          `mutation { runAgent(id: "${path.slice('/agents/'.length)}", payload: null) { operation { status } } }`,
        ),
    ];
    for (const start of starts) {
      const agent = await createAgent(ann);
      const price = expected === RESERVED ? await reservedFor(ann, agent) : expected;
      ai.behaviors.push(behavior);
      await start(agent.path);
      const total = price === null ? 0 : 1 + price;
      expect(await costsOf(service, agent)).toEqual({
        charged: expect.closeTo(total, 6),
        stated: expect.closeTo(total, 6),
        reserved: 0,
        calls: [{ status: 'failed', credits: price === null ? null : expect.closeTo(price, 6) }],
      });
      const { _embedded: runs } = (await ann.get(`${agent.path}/runs`)).body;
      expect(runs['svc:agent-run']).toMatchObject([
        { status: 'failed', steps: [{ credits: price === null ? null : expect.closeTo(price, 6) }] },
      ]);
    }
    expect(await systemQuery(service, WRONG_TOTALS)).toEqual([]);
  });

  test('of a provider that does not respond costs nothing', async ({ admin, ann, service, ai }) => {
    const agent = await createAgent(ann);
    const [provider] = (await admin.get('/ai-providers')).body._embedded['svc:ai-provider'];
    const move = (baseUrl: string) => admin.put(`/ai-providers/${provider.id}`, { baseUrl, apiKey: ai.apiKey });
    await move('http://127.0.0.1:59998/v1');
    await ann.post(`${agent.path}/_run`, {});
    await move(ai.provider.baseUrl);
    expect(await costsOf(service, agent)).toEqual({
      charged: 0,
      stated: 0,
      reserved: 0,
      calls: [{ status: 'failed', credits: null }],
    });
  });
});

describe('a cancelled run', () => {
  /** Starts a run. Returns how to cancel it, and waits for its end. */
  const start = async (client: Client, { path }: TestAgent) => {
    const { body } = await client.post(`${path}/_run`, {}, { prefer: 'respond-async' });
    const statusOf = async () => (await client.get(`/progress/${body.id}`)).body.status;
    return {
      cancel: () => client.delete(`/progress/${body.id}`),
      ended: () => expect.poll(statusOf).not.toMatch(/queued|running/),
    };
  };

  const whenCalled = (ai: AiFake, count: number): Promise<void> =>
    new Promise((resolve) => {
      ai.onCall = () => {
        if (ai.counts.chat === count) resolve();
      };
    });

  test.for([
    ['in its first call', 1],
    ['in a later call', 2],
  ] as const)('%s costs all calls that were sent', async ([, count], { eve, ai, target, service }) => {
    const toolkitId = await createTools(eve, [{ name: 'ping', request: { url: target.url } }]);
    const agent = await createAgent(eve, { toolkitIds: [toolkitId] });
    const called = whenCalled(ai, count);
    if (count === 2) {
      ai.script.push({ ...callOf('ping'), inputTokens: 4000, outputTokens: 0 });
      target.respond = () => {
        ai.behaviors.push({ hangs: true });
        return { body: 'pong' };
      };
    } else ai.behaviors.push({ hangs: true });
    const run = await start(eve, agent);
    await called;
    const [open] = await systemQuery<{ credits: number }>(
      service,
      `select credits::float8 as credits from dws.credit_reservation where actor = $1 and sent_at is not null`,
      `agent:${agent.id}`,
    );
    await run.cancel();
    await run.ended();
    const total = open!.credits + (count === 2 ? 1.2 : 0);
    const { calls, ...sums } = await costsOf(service, agent);
    expect(sums).toEqual({ charged: expect.closeTo(total, 6), stated: expect.closeTo(total, 6), reserved: 0 });
    expect(calls.map(({ status }) => status)).toEqual(['succeeded', 'cancelled'].slice(2 - count));
  });

  test('in a tool costs the calls before it', async ({ eve, ai, target, service }) => {
    const toolkitId = await createTools(eve, [{ name: 'ping', request: { url: target.url } }]);
    const agent = await createAgent(eve, { toolkitIds: [toolkitId] });
    ai.script.push({ ...callOf('ping'), inputTokens: 4000, outputTokens: 0 });
    const reached = new Promise<void>((resolve) => {
      target.respond = () => {
        resolve();
        return { body: 'pong' };
      };
    });
    ai.latencyMs = 50;
    const run = await start(eve, agent);
    await reached;
    ai.behaviors.push({ hangs: true });
    await run.cancel();
    await run.ended();
    const { charged, stated, reserved } = await costsOf(service, agent);
    expect([charged >= 1.2, stated, reserved]).toEqual([true, expect.closeTo(charged, 6), 0]);
  });

  test('that waits in the queue costs nothing', async ({ ann, ai, service }) => {
    ai.behaviors.push({ kind: 'chat', hangs: true, count: 100 });
    const busy = await createAgent(ann);
    const pending = await Promise.all(Array.from({ length: 8 }, () => start(ann, busy)));
    await expect.poll(() => ai.openCalls).toBe(8);
    const agent = await createAgent(ann);
    const run = await start(ann, agent);
    await run.cancel();
    await run.ended();
    expect(await costsOf(service, agent)).toEqual({ charged: 0, stated: 0, reserved: 0, calls: [] });
    for (const { cancel } of pending) await cancel();
    for (const { ended } of pending) await ended();
    const { charged, stated, reserved, calls } = await costsOf(service, busy);
    expect([reserved, calls.length, stated]).toEqual([0, 8, expect.closeTo(charged, 6)]);
    expect(charged).toBeGreaterThan(8);
  });
});

test.for<[string, FakeBehavior | 'unreachable', number | typeof RESERVED | null]>([
  ['was not sent costs nothing', 'unreachable', null],
  ['was refused costs nothing', { status: 400 }, null],
  ['broke off costs what is reserved', { isCut: true }, RESERVED],
  ['succeeded costs what the provider states', { body: { choices: [{ message: { content: 'done' } }], usage } }, 0.2],
])(
  'a call whose end meets a lost database and that %s',
  async ([, behavior, expected], { admin, ann, ai, service }) => {
    const agent = await createAgent(ann);
    const price = expected === RESERVED ? await reservedFor(ann, agent) : expected;
    const [provider] = (await admin.get('/ai-providers')).body._embedded['svc:ai-provider'];
    const move = (baseUrl: string) => admin.put(`/ai-providers/${provider.id}`, { baseUrl, apiKey: ai.apiKey });
    if (behavior === 'unreachable') await move('http://127.0.0.1:59998/v1');
    else ai.behaviors.push(behavior);
    const lost = loseEnds(service.platform, 1);
    await ann.post(`${agent.path}/_run`, {});
    await move(ai.provider.baseUrl);
    const total = price === null ? 0 : expect.closeTo(1 + price, 6);
    expect(lost.count).toBe(1);
    expect(await costsOf(service, agent)).toEqual({
      charged: total,
      stated: total,
      reserved: 0,
      calls: [
        {
          status: expected === 0.2 ? 'succeeded' : 'failed',
          credits: price === null ? null : expect.closeTo(price, 6),
        },
      ],
    });
  },
);

test('the deletion of an agent during a call is charged, and the audit names it', async ({
  ann,
  admin,
  ai,
  service,
}) => {
  const agent = await createAgent(ann);
  const price = await reservedFor(ann, agent);
  ai.behaviors.push({ hangs: true });
  const called = new Promise<void>((resolve) => {
    ai.onCall = () => resolve();
  });
  const { body } = await ann.post(`${agent.path}/_run`, {}, { prefer: 'respond-async' });
  await called;
  await ann.delete(agent.path);
  await expect.poll(async () => (await ann.get(`/progress/${body.id}`)).body.status).toBe('cancelled');
  expect(await costsOf(service, agent)).toMatchObject({ charged: expect.closeTo(1 + price, 6), reserved: 0 });
  const { _embedded: audit } = (await admin.get(`/ai/audit?actor=agent:${agent.id}`)).body;
  expect(audit['svc:ai-call']).toMatchObject([{ status: 'cancelled', credits: expect.closeTo(price, 6) }]);
});
