import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { createApp } from '../app/app-fixture.ts';
import { callApi, servicesFor } from '../app/handler-services-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test as base } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { onEvents } from './agent-fixture.ts';

const test = base.extend<{ biller: Client; assistantId: string; appId: string }>({
  biller: [
    async ({ service }, use) => use(await service.user('biller', { permissions: ['billing:manage'] })),
    { scope: 'file' },
  ],
  // An assistant of ann's, that bob and the biller may write.
  assistantId: async ({ ann, bob, biller }, use) => {
    const { id } = await ann.creates('/assistants', { name: `Assistant ${newId()}` });
    for (const { username } of [bob, biller])
      await expectStatus(ann.put(`/assistants/${id}/shares/${username}`, { accessLevel: 2 }), 200);
    await use(id);
  },
  // An app of the admin's, that ann and bob may read.
  appId: async ({ admin, ann, bob }, use) => {
    const id = await createApp(admin, `App ${newId()}`);
    for (const { username } of [ann, bob])
      await expectStatus(admin.put(`/apps/${id}/shares/${username}`, { accessLevel: 1 }), 200);
    await use(id);
  },
});

/** Creates an agent of the caller. Returns its path. */
async function createAgent(client: Client, assistantId: string, more: object = {}): Promise<string> {
  return `/agents/${(await client.creates('/agents', { name: 'Clerk', assistantId, ...more })).id}`;
}

describe('an agent', () => {
  test('has the values of its creation, in both APIs', async ({ ann, assistantId, appId }) => {
    const created = await ann.creates('/agents', {
      name: 'Clerk',
      assistantId,
      ...onEvents(appId, 'a.b', 'a.b', 'c'),
      instructions: 'Be brief.',
    });
    const expected = {
      name: 'Clerk',
      assistantId,
      ownerId: ann.id,
      owner: { id: ann.id, username: 'ann' },
      ...onEvents(appId, 'a.b', 'c'),
      instructions: 'Be brief.',
      usageProfileId: null,
      enabled: true,
      accepted: true,
      monthlyBudget: null,
      permissions: { read: true, write: true, edit: true, run: true, delete: true },
    };
    expect(created).toMatchObject(expected);
    await expectBody(ann.get(`/agents/${created.id}`), 200, expected);
    await expectBody(ann.get(`/assistants/${assistantId}/agents`), 200, { count: 1 });
    const { agent } = await ann.data(
      `{ agent(id: "${created.id}") { name events { appId name } owner { username } assistant { agents { id name } } runs { id } } }`,
    );
    expect(agent).toEqual({
      name: 'Clerk',
      ...onEvents(appId, 'a.b', 'c'),
      owner: { username: 'ann' },
      assistant: { agents: [{ id: created.id, name: 'Clerk' }] },
      runs: [],
    });
  });

  test('can be changed and cleared, and keeps what is absent', async ({ ann, assistantId, appId }) => {
    const path = await createAgent(ann, assistantId, { ...onEvents(appId, 'a'), instructions: 'x' });
    await expectBody(ann.put(path, { name: 'Renamed', enabled: false }), 200, {
      name: 'Renamed',
      enabled: false,
      ...onEvents(appId, 'a'),
      instructions: 'x',
    });
    await expectBody(ann.put(path, { events: null, instructions: null }), 200, { events: [], instructions: null });
    await expectError(ann.put(path, { enabled: null }), 400, /enabled/);
    await expectError(ann.put(path, onEvents(appId, 'two words')), 400, /events/);
    await expectError(ann.put(path, { assistantId: UNKNOWN_ID }), 400, /assistantId/);
    await expectError(ann.post('/agents', { assistantId, name: ' ' }), 400, /name/);
  });

  test('is deleted with its runs, and with its assistant', async ({ ann, service, assistantId }) => {
    const first = await createAgent(ann, assistantId);
    await expectStatus(ann.delete(first), 204);
    await expectError(ann.get(first), 404, /agent/);
    const second = await createAgent(ann, assistantId);
    await expectStatus(ann.delete(`/assistants/${assistantId}`), 204);
    await expectError(ann.get(second), 404, /agent/);
    expect(await systemQuery(service, 'select id from dws.agent where assistant_id = $1', assistantId)).toEqual([]);
  });

  test('is found in the list by assistant and owner', async ({ ann, bob, assistantId }) => {
    await createAgent(ann, assistantId, { name: 'Of ann' });
    await createAgent(bob, assistantId, { name: 'Of bob' });
    const names = async (query: string) =>
      (await ann.get(`/agents?assistantId=${assistantId}${query}`)).body._embedded['svc:agent'].map(
        ({ name }: { name: string }) => name,
      );
    expect(await names('')).toEqual(['Of ann', 'Of bob']);
    expect(await names(`&ownerId=${bob.id}`)).toEqual(['Of bob']);
    await expectError(ann.get('/agents?assistantId=no-uuid'), 404, /no-uuid/);
  });
});

describe('access to an agent', () => {
  test('is that to its assistant', async ({ ann, bob, stranger, anonymous, service, assistantId }) => {
    const reader = await service.user(`reader-${newId()}`);
    const outsider = await service.user(`outsider-${newId()}`);
    await ann.put(`/assistants/${assistantId}/shares/${reader.username}`, { accessLevel: 1 });
    const path = await createAgent(ann, assistantId);
    await expectBody(reader.get(path), 200, {
      permissions: { read: true, write: false, edit: false, run: false, delete: false },
    });
    await expectError(reader.put(path, { name: 'x' }), 403, 'You lack the permission agent:write');
    await expectError(reader.delete(path), 403, 'You lack the permission agent:delete');
    await expectError(reader.post(`${path}/_run`, {}), 403, 'You lack the permission agent:run');
    await expectError(reader.post(`${path}/runs/${UNKNOWN_ID}/_cancel`), 403, 'You lack the permission agent:run');
    await expectError(
      reader.post('/agents', { name: 'x', assistantId }),
      403,
      'You lack the permission assistant:write',
    );
    for (const client of [outsider, stranger]) {
      await expectError(client.get(path), 404, /agent/);
      await expectError(client.get(`${path}/runs`), 404, /agent/);
      await expectError(client.put(path, { name: 'x' }), 404, /agent/);
      await expectError(client.delete(path), 404, /agent/);
      await expectError(client.post(`${path}/_run`, {}), 404, /agent/);
      await expectError(client.post('/agents', { name: 'x', assistantId }), 404, /assistant/);
      await expectError(client.get(`/agents?assistantId=${assistantId}`), 404, /assistant/);
    }
    await expectError(anonymous.get(path), 401);
    await expectError(anonymous.post(`${path}/_run`, {}), 401);
    await expectError(bob.get(`/agents/${UNKNOWN_ID}`), 404);
    await expectError(bob.get(`${path}/runs/${UNKNOWN_ID}`), 404);
    await expectStatus(bob.delete(path), 204);
  });

  test('does not include its usage profile', async ({ ann, biller, admin, service, assistantId }) => {
    const [profile] = await systemQuery<{ id: string }>(
      service,
      `select p.id from dws.usage_profile p join dws.app_user u on u.tenant_id = p.tenant_id
      where u.id = $1 and p.slug = 'premium'`,
      ann.id,
    );
    const path = await createAgent(ann, assistantId);
    const usageProfileId = profile!.id;
    const lacking = 'You lack the permission billing:manage';
    await expectError(ann.put(path, { usageProfileId }), 403, lacking);
    await expectError(ann.post('/agents', { name: 'x', assistantId, usageProfileId }), 403, lacking);
    await expectGraphqlError(
      ann.gql(
        `mutation { updateAgent(id: "${path.slice(8)}", input: { usageProfileId: "${usageProfileId}" }) { id } }`,
      ),
      'FORBIDDEN',
      lacking,
    );
    await expectBody(biller.put(path, { usageProfileId }), 200, { usageProfileId, accepted: true });
    // A record that was read can be sent back.
    await expectBody(ann.put(path, { usageProfileId, name: 'Kept' }), 200, { usageProfileId, name: 'Kept' });
    await expectError(ann.put(path, { usageProfileId: null }), 403, lacking);
    await expectError(biller.put(path, { usageProfileId: UNKNOWN_ID }), 404, /usage profile/);
    await expectError(biller.put(path, { usageProfileId: 'x' }), 404, /usage profile/);
    await expectBody(admin.put(path, { usageProfileId: null }), 200, { usageProfileId: null });
  });
});

describe('the acceptance of an agent', () => {
  const accepted = async (client: Client, path: string) => (await client.get(path)).body.accepted as boolean;

  test('ends when another user changes its behaviour', async ({ ann, bob, admin, assistantId, appId }) => {
    const path = await createAgent(ann, assistantId, { ...onEvents(appId, 'a'), instructions: 'x' });
    await bob.put(path, { name: 'Other', ...onEvents(appId, 'a'), instructions: 'x' });
    expect(await accepted(ann, path)).toBe(true);
    await bob.put(path, { instructions: 'Send me everything.' });
    expect(await accepted(ann, path)).toBe(false);
    await expectError(bob.post(`${path}/_run`, {}), 409, 'The owner has not accepted the agent yet');
    await bob.put(path, { enabled: false });
    await expectError(bob.put(path, { enabled: true }), 409, 'The owner has not accepted the agent yet');
    await expectBody(ann.put(path, { enabled: true }), 200, { accepted: true });
    await expectStatus(bob.put(path, onEvents(appId, 'b')), 200);
    expect(await accepted(ann, path)).toBe(false);
    // Already enabled: stating it again accepts, too.
    await expectBody(ann.put(path, { enabled: true }), 200, { accepted: true });
    await admin.put(path, { instructions: 'By a superuser.' });
    expect(await accepted(ann, path)).toBe(true);
  });

  test.for([
    ['instructions', { instructions: 'Other' }],
    ['model', { model: 'other' }],
    ['events', { events: 'other' }],
    ['toolkits', { toolkitIds: 'tool' }],
  ] as const)(
    'ends when another user changes the %s of its assistant',
    async ([, change], { ann, bob, admin, assistantId, appId }) => {
      const [ofAnn, ofBob] = [await createAgent(ann, assistantId), await createAgent(bob, assistantId)];
      await bob.put(`/assistants/${assistantId}`, { name: 'Renamed' });
      expect(await accepted(ann, ofAnn)).toBe(true);
      const toolkit = await admin.creates('/toolkits', {
        name: 'T',
        type: 'custom',
        config: { tools: [] },
        ownerId: bob.id,
      });
      const changed =
        'toolkitIds' in change
          ? { toolkitIds: [toolkit.id] }
          : 'events' in change
            ? onEvents(appId, change.events)
            : change;
      await expectStatus(bob.put(`/assistants/${assistantId}`, changed), 200);
      expect(await accepted(ann, ofAnn)).toBe(false);
      expect(await accepted(bob, ofBob)).toBe(true);
    },
  );

  test('is not given by a handler of an app', async ({ ann, admin, service, assistantId }) => {
    const path = await createAgent(ann, assistantId);
    const services = await servicesFor(service, ann, await createApp(admin, `App ${newId()}`));
    const change = { instructions: 'By an app.' };
    await expectStatus(callApi(services, 'PUT', `/api/assistants/${assistantId}`, change), 200);
    expect(await accepted(ann, path)).toBe(false);
    await expectError(
      callApi(services, 'POST', `/api${path}/_run`, {}) as never,
      409,
      'The owner has not accepted the agent yet',
    );
    await expectError(callApi(services, 'PUT', `/api${path}`, { enabled: true }) as never, 403, /change agents/);
  });

  test('is needed after its owner was deleted, and who gets it is another user', async ({
    admin,
    bob,
    service,
    ann,
    assistantId,
  }) => {
    const leaver = await service.user(`leaver-${newId()}`);
    await ann.put(`/assistants/${assistantId}/shares/${leaver.username}`, { accessLevel: 2 });
    const [path, lost] = [await createAgent(leaver, assistantId), await createAgent(leaver, assistantId)];
    await expectStatus(leaver.delete(lost), 204);
    await expectStatus(admin.delete(`/users/${leaver.username}?transferTo=${bob.username}`), 204);
    await expectBody(bob.get(path), 200, { ownerId: bob.id, accepted: false });
    await expectError(ann.post(`${path}/_run`, {}), 409, 'The owner has not accepted the agent yet');
  });

  test('is not needed for a team, which has no agents', async ({ admin, service, ann, assistantId }) => {
    const leaver = await service.user(`leaver-${newId()}`);
    const team = await admin.creates('/teams', { name: `Team ${newId()}` });
    await ann.put(`/assistants/${assistantId}/shares/${leaver.username}`, { accessLevel: 2 });
    const path = await createAgent(leaver, assistantId);
    await expectStatus(admin.delete(`/users/${leaver.username}?transferTo=team:${team.id}`), 204);
    await expectError(ann.get(path), 404);
  });
});
