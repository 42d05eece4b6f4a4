import { describe, expect } from 'vitest';
import { limit } from '../ai/ai-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { WRONG_TOTALS } from '../support/usage-fixture.ts';
import { createProfile } from '../support/usage-profile-fixture.ts';
import { createAgent, runAgent, test, type TestAgent } from './agent-fixture.ts';

/* A cap limits a person, with all agents that act for it. */

/** A run that costs 1.2 credits. */
const REPLY = { content: 'done', inputTokens: 4000, outputTokens: 0 };

const usageOf = async (client: Client) => (await client.get('/me/usage')).body;

/** Creates a user with a cap. */
async function createOwner(service: Service, name: string, cap: number | null): Promise<Client> {
  const owner = await service.user(name);
  await limit(service, [owner], cap);
  return owner;
}

const run = (client: Client, { path }: TestAgent) => client.post(`${path}/_run`, {});

describe('the agents of a user', () => {
  test('use the cap of the user together, in both APIs', async ({ service, ai }) => {
    const olga = await createOwner(service, 'olga', 3);
    const [first, second] = [await createAgent(olga), await createAgent(olga, {}, { name: 'Another' })];
    for (const agent of [first, second]) await runAgent(olga, agent, ai, [REPLY]);
    const agents = [
      { id: second.id, name: 'Another', used: 1.2, reserved: 0 },
      { id: first.id, name: 'Clerk', used: 1.2, reserved: 0 },
    ];
    expect(await usageOf(olga)).toMatchObject({ used: 2.4, reserved: 0, cap: 3, remaining: 0.6, agents });
    const { myUsage } = await olga.data('{ myUsage { used remaining agents { id name used reserved } } }');
    expect(myUsage).toEqual({ used: 2.4, remaining: 0.6, agents });
    for (const agent of [first, second])
      await expectError(run(olga, agent), 402, /^Not enough credits: .* 2\.4 of 3 are used/);
    const mutation = `mutation { runAgent(id: "${first.id}", payload: null) { operation { status } } }`;
    expect((await olga.gql(mutation)).errors).toMatchObject([{ extensions: { code: 'CREDITS_SPENT' } }]);
    await expectError(olga.post('/_create-image', { prompt: 'A fox' }), 402, /2\.4 of 3/);
    const quote = { action: 'agentRun', agentId: first.id };
    await expectBody(olga.post('/usage/quote', quote), 200, { remaining: 0.6, allowed: false });
  });

  test('that are deleted still count with their usage', async ({ service, ai }) => {
    const pia = await createOwner(service, 'pia', 3);
    for (let count = 1; count <= 2; count += 1) {
      const agent = await createAgent(pia);
      await runAgent(pia, agent, ai, [REPLY]);
      await pia.delete(count === 1 ? agent.path : `/assistants/${agent.assistantId}`);
    }
    expect(await usageOf(pia)).toMatchObject({
      used: 2.4,
      remaining: 0.6,
      agents: [{ id: null, name: null, used: 2.4, reserved: 0 }],
    });
    await expectError(run(pia, await createAgent(pia)), 402, /2\.4 of 3 are used/);
  });

  test('of another user count to that user from then on', async ({ admin, service, ai }) => {
    const [quinn, rosa] = [await createOwner(service, 'quinn', 3), await createOwner(service, 'rosa', 3)];
    const agent = await createAgent(quinn);
    await runAgent(quinn, agent, ai, [REPLY]);
    await quinn.put(`/assistants/${agent.assistantId}/shares/rosa`, { accessLevel: 2 });
    await systemQuery(service, 'update dws.agent set owner_id = $1, accepted = true where id = $2', rosa.id, agent.id);
    await runAgent(rosa, agent, ai, [REPLY]);
    const entry = { name: 'Clerk', used: 1.2 };
    expect(await usageOf(quinn)).toMatchObject({ used: 1.2, agents: [{ id: null, name: null, used: 1.2 }] });
    expect(await usageOf(rosa)).toMatchObject({ used: 1.2, agents: [{ id: agent.id, ...entry }] });
    // Ledger and reports name the agent.
    const { topUsers } = (await admin.get('/usage/top-consumers?limit=50')).body;
    expect(topUsers).toEqual(
      expect.arrayContaining([expect.objectContaining({ actor: `agent:${agent.id}`, totalCredits: 2.4 })]),
    );
  });

  test('that run concurrently never exceed the cap of their owner', async ({ service, ai }) => {
    const sue = await createOwner(service, 'sue', 5);
    const agents = await Promise.all([1, 2, 3, 4].map(() => createAgent(sue)));
    ai.latencyMs = 30;
    const outcomes = await Promise.all(agents.flatMap((agent) => [1, 2, 3].map(() => run(sue, agent))));
    const statuses = outcomes.map(({ status, body }) => (status === 200 ? body.status : body.code));
    expect(new Set(statuses)).toEqual(new Set(['succeeded', 'CREDITS_SPENT']));
    const { used, reserved } = await usageOf(sue);
    expect([used <= 5, used > 1, reserved]).toEqual([true, true, 0]);
    expect(await systemQuery(service, WRONG_TOTALS)).toEqual([]);
  });
});

describe('the limits of an agent', () => {
  test('lower what it may spend, and raise nothing', async ({ admin, service, ai }) => {
    const tom = await createOwner(service, 'tom', 3);
    const [agent, other] = [await createAgent(tom), await createAgent(tom)];
    const small = await createProfile(admin, { creditCapPerMonth: 2, allowedModelTiers: ['everyday'] });
    const large = await createProfile(admin, { creditCapPerMonth: 100, allowedModelTiers: ['everyday', 'strategic'] });
    await expectBody(admin.put(agent.path, { usageProfileId: small.id }), 200, { usageProfileId: small.id });
    await runAgent(tom, agent, ai, [REPLY]);
    const quote = { action: 'agentRun', agentId: agent.id };
    await expectBody(tom.post('/usage/quote', quote), 200, { remaining: 0.8, allowed: false });
    await expectError(run(tom, agent), 402, /^Not enough credits of the agent: .* 1\.2 of 2 are used/);
    await runAgent(tom, other, ai, [REPLY]);
    await admin.put(agent.path, { usageProfileId: large.id });
    await expectBody(tom.post('/usage/quote', quote), 200, { remaining: 0.6, allowed: false });
    await expectError(run(tom, agent), 402, /^Not enough credits: .* 2\.4 of 3 are used/);
  });

  test('are its budget, too, and the tiers of both profiles', async ({ admin, service, ai }) => {
    const uma = await createOwner(service, 'uma', null);
    const agent = await createAgent(uma);
    await admin.put(agent.path, { monthlyBudget: 2.5 });
    await runAgent(uma, agent, ai, [REPLY]);
    await expectBody(uma.post('/usage/quote', { action: 'agentRun', agentId: agent.id }), 200, { remaining: 1.3 });
    await admin.put(agent.path, { monthlyBudget: 1.5 });
    await expectError(run(uma, agent), 402, /of the agent: .* 1\.2 of 1\.5 are used/);
    await admin.put(agent.path, { monthlyBudget: null });
    const none = await createProfile(admin, { creditCapPerMonth: null, allowedModelTiers: ['strategic'] });
    await admin.put(agent.path, { usageProfileId: none.id });
    await expectError(run(uma, agent), 403, /tier everyday/);
    await limit(service, [uma], null, ['strategic']);
    await admin.put(agent.path, { usageProfileId: null });
    await expectError(run(uma, agent), 403, /tier everyday/);
  });
});
