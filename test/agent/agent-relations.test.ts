import { describe, expect } from 'vitest';
import type { AgentRun } from '../../entities/agent-run.ts';
import { systemQuery } from '../support/system-query.ts';
import { createAgent, runAgent, test } from './agent-fixture.ts';

describe('an agent in the graph', () => {
  test('is a field of its runs, like the user who started them', async ({ ann, ai }) => {
    const agent = await createAgent(ann);
    await runAgent(ann, agent, ai, []);
    const data = await ann.data(
      `{ agent(id: "${agent.id}") { runs { agentId agent { id } userId user { username } } } }`,
    );
    expect(data.agent.runs).toEqual([
      { agentId: agent.id, agent: { id: agent.id }, userId: ann.id, user: { username: 'ann' } },
    ]);
  });

  test('has its runs in pages of 30', async ({ ann, service }) => {
    const agent = await createAgent(ann);
    await systemQuery(
      service,
      `insert into dws.agent_run (id, tenant_id, agent_id, trigger, depth, status, finished_at, created_at)
      select gen_random_uuid(), tenant_id, id, 'manual', 1, 'failed', now(), now() - n * interval '1 minute'
      from dws.agent, generate_series(1, 35) n where id = $1`,
      agent.id,
    );
    const { body: first } = await ann.get(`${agent.path}/runs`);
    expect(first).toMatchObject({ start: 0, count: 30, total: 35 });
    const { body: second } = await ann.request('GET', first._links.next.href);
    expect(second).toMatchObject({ start: 30, count: 5, total: 35 });
    const query = `{ agent(id: "${agent.id}") { runs { id } all: runs(limit: 1000) { id } } }`;
    const { runs, all } = (await ann.data(query)).agent;
    const ids = [first, second].flatMap(({ _embedded }) => _embedded['svc:agent-run'].map(({ id }: AgentRun) => id));
    expect([runs.length, all.map(({ id }: AgentRun) => id)]).toEqual([30, ids]);
  });

  test('is the record of its usage, its operations and its notifications', async ({ service, admin, ai }) => {
    const owner = await service.user('owner');
    const agent = await createAgent(owner);
    await runAgent(owner, agent, ai, []);
    ai.behaviors.push({ status: 400 });
    await runAgent(owner, agent, ai, []);
    const node = { __typename: 'Agent', id: agent.id };
    const found = await owner.data(`{
      operations(limit: 1) { items { resource { node { __typename ... on Agent { id } } } } }
      notifications { items { resource { node { __typename ... on Agent { id } } } } }
    }`);
    expect(found.operations.items).toEqual([{ resource: { node } }]);
    expect(found.notifications.items).toEqual([{ resource: { node } }]);
    const { usageEvents, usageReport, topConsumers } = await admin.data(`{
      usageEvents(entityId: "${agent.id}", limit: 1) { items { entity { __typename ... on Agent { id } } } }
      usageReport { usageSummary { entityId entity { __typename ... on Agent { id } } } }
      topConsumers { topApps { entityId entity { __typename ... on Agent { id } } } }
    }`);
    expect(usageEvents.items).toEqual([{ entity: node }]);
    const ofAgent = ({ entityId }: { entityId: string }) => entityId === agent.id;
    expect(usageReport.usageSummary.find(ofAgent).entity).toEqual(node);
    expect(topConsumers.topApps.find(ofAgent).entity).toEqual(node);
  });

  test('is found from its usage profile', async ({ admin }) => {
    const profile = await admin.creates('/usage-profiles', { name: 'P', slug: 'of-agents', description: 'x' });
    const agent = await createAgent(admin, {}, { usageProfileId: profile.id });
    const { usageProfile } = await admin.data(
      `{ usageProfile(id: "of-agents") { agents { id usageProfile { slug } } } }`,
    );
    expect(usageProfile.agents).toEqual([{ id: agent.id, usageProfile: { slug: 'of-agents' } }]);
  });
});
