import { describe, expect } from 'vitest';
import { createAgent, runAgent, test } from './agent-fixture.ts';

describe('an agent in the graph', () => {
  test('stands beside the ids of its runs, with the user who started it', async ({ ann, ai }) => {
    const agent = await createAgent(ann);
    await runAgent(ann, agent, ai, []);
    const data = await ann.data(
      `{ agent(id: "${agent.id}") { runs { agentId agent { id } userId user { username } } } }`,
    );
    expect(data.agent.runs).toEqual([
      { agentId: agent.id, agent: { id: agent.id }, userId: ann.id, user: { username: 'ann' } },
    ]);
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
