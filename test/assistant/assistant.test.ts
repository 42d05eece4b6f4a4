import { describe, expect } from 'vitest';
import { onEvents } from '../agent/agent-fixture.ts';
import { createApp } from '../app/app-fixture.ts';
import { expectError, expectStatus } from '../support/expect.ts';
import { createSource, test } from '../support/shop-fixture.ts';

const TOOLKIT = { type: 'mcp-stdio', config: { command: 'npx' }, ownerId: 'ann' };

describe('an assistant', () => {
  test('has the values of its creation, in both APIs', async ({ ann, admin }) => {
    const toolkit = await admin.creates('/toolkits', { ...TOOLKIT, name: 'Tools' });
    const appId = await createApp(admin, 'Orders');
    await expectStatus(admin.put(`/apps/${appId}/shares/ann`, { accessLevel: 1 }), 200);
    const assistant = await ann.creates('/assistants', {
      name: 'Shop assistant',
      icon: 'rocket',
      instructions: 'Be brief.',
      model: 'small',
      toolkitIds: [toolkit.id, toolkit.slug],
      events: [...onEvents(appId, 'order.received').events, ...onEvents('orders', 'order.received').events],
    });
    expect(assistant).toMatchObject({
      slug: 'shop-assistant',
      icon: 'rocket',
      instructions: 'Be brief.',
      model: 'small',
      toolkitIds: [toolkit.id],
      datasetIds: [],
      ...onEvents(appId, 'order.received'),
      eventApps: [{ appId, owner: { id: admin.id, type: 'user' }, suspended: null }],
    });
    const query = `{ assistant(id: "shop-assistant") { icon events { appId name } toolkits { name } datasets { name } } }`;
    expect((await ann.gql(query)).data).toEqual({
      assistant: { icon: 'rocket', ...onEvents(appId, 'order.received'), toolkits: [{ name: 'Tools' }], datasets: [] },
    });
  });

  test('can be cleared, and keeps what is absent', async ({ ann }) => {
    const { id } = await ann.creates('/assistants', { name: 'Cleared', icon: 'rocket', instructions: 'x', model: 'm' });
    const cleared = await ann.put(`/assistants/${id}`, { icon: null, instructions: '' });
    expect(cleared).toMatchObject({ status: 200, body: { icon: null, instructions: null, model: 'm' } });
  });

  test('names invalid values', async ({ ann }) => {
    await expectError(ann.post('/assistants', { name: 'x', ...onEvents('orders', 'two words') }), 400, /events/);
    await expectError(ann.post('/assistants', { name: 'x', icon: ' ' }), 400, /icon/);
  });
});

describe('the toolkits and datasets of an assistant', () => {
  test('must be readable for who adds them, and stay for others', async ({ ann, admin, bob }) => {
    const toolkit = await admin.creates('/toolkits', { ...TOOLKIT, name: 'Hidden' });
    await expectError(bob.post('/assistants', { name: 'x', toolkitIds: [toolkit.id] }), 404, /toolkit/);
    const { id } = await ann.creates('/assistants', { name: 'Shared', toolkitIds: [toolkit.id] });
    await ann.put(`/assistants/${id}/shares/bob`, { accessLevel: 2 });
    const kept = await bob.put(`/assistants/${id}`, { toolkitIds: [toolkit.id], name: 'Kept' });
    expect(kept).toMatchObject({ status: 200, body: { name: 'Kept', toolkitIds: [toolkit.id] } });
    const { data } = await bob.gql(`{ assistant(id: "${id}") { toolkits { name } } }`);
    expect(data).toEqual({ assistant: { toolkits: [] } });
  });

  test('cannot be deleted while it uses them', async ({ ann, admin, shop }) => {
    const toolkit = await admin.creates('/toolkits', { ...TOOLKIT, name: 'Used' });
    const { id: datasourceId } = await createSource(admin, shop, { ownerId: 'ann' });
    const dataset = await ann.creates('/datasets', { name: 'Used', datasourceId, query: 'select 1 as one' });
    const { id } = await ann.creates('/assistants', {
      name: 'User of both',
      toolkitIds: [toolkit.id],
      datasetIds: [dataset.slug],
    });
    await expectError(ann.delete(`/toolkits/${toolkit.id}`), 409, /User of both/);
    await expectError(ann.delete(`/datasets/${dataset.id}`), 409, /User of both/);
    await ann.put(`/assistants/${id}`, { toolkitIds: null, datasetIds: null });
    await expectStatus(ann.delete(`/toolkits/${toolkit.id}`), 204);
    await expectStatus(ann.delete(`/datasets/${dataset.id}`), 204);
  });
});
