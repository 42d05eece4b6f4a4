import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test as base } from '../support/fixture.ts';
import { meterIn, tenantOf, usageOf } from '../support/usage-fixture.ts';

interface BillingWorld {
  /** May read the ledger, but is not a superuser. */
  billing: Client;
  /** The same with a token that may only read. */
  readOnly: Client;
  /** Id of an app of ann with usage in the ledger of the tenant `default`. */
  app: string;
}

const [AGENT, JOB] = [newId(), newId()];

const test = base.extend<BillingWorld>({
  billing: [
    async ({ service }, use) => use(await service.user('billing', { permissions: ['billing:manage'] })),
    { scope: 'file' },
  ],
  readOnly: [
    async ({ service }, use) =>
      use(await service.user('reader', { permissions: ['billing:manage'], scopes: ['read'] })),
    { scope: 'file' },
  ],
  app: [
    async ({ service, admin, ann }, use) => {
      const { id } = await admin.creates('/apps', { name: 'Metered', ownerId: ann.id });
      const at = (time: string) => ({ occurredAt: new Date(time) });
      const actor = `user:${ann.id}` as const;
      await meterIn(service, await tenantOf(service), [
        usageOf('app:1', {
          resource: 'app_compute',
          quantity: '0.123456',
          actor,
          entityType: 'app',
          entityId: id,
          metadata: { handler: 'onLoad' },
          ...at('2026-05-01T00:00:00.000Z'),
        }),
        usageOf('job:1', { quantity: '99999999999.9999', actor, entityId: JOB, ...at('2026-05-31T23:59:59.999Z') }),
        usageOf('agent:1', {
          resource: 'agent_run',
          actor: `agent:${AGENT}`,
          entityType: 'agent',
          entityId: AGENT,
          ...at('2026-06-01T00:00:00.000Z'),
        }),
      ]);
      await meterIn(service, await tenantOf(service, 'other'), [usageOf('secret:1')]);
      await use(id);
    },
    { scope: 'file' },
  ],
});

const keysOf = (body: { _embedded: { 'svc:usage-event': { key: string }[] } }) =>
  body._embedded['svc:usage-event'].map(({ key }) => key);

describe('usage events', () => {
  test('are listed newest first, with their subjects', async ({ billing, ann, app }) => {
    const body = await expectBody(billing.get('/usage/events'), 200, { start: 0, count: 3, total: 3 });
    expect(body._links).toMatchObject({ self: { href: '/api/usage/events' }, up: { href: '/api/usage' } });
    expect(keysOf(body)).toEqual(['agent:1', 'job:1', 'app:1']);
    const [agent, job, ofApp] = body._embedded['svc:usage-event'];
    expect(ofApp).toEqual({
      id: expect.any(String),
      occurredAt: '2026-05-01T00:00:00.000Z',
      actor: `user:${ann.id}`,
      actorType: 'user',
      entityType: 'app',
      entityId: app,
      resourceType: 'app_compute',
      quantity: 0.123456,
      credits: 0.001235,
      metadata: { handler: 'onLoad' },
      key: 'app:1',
      _links: { 'svc:user': { href: `/api/users/${ann.id}` }, 'svc:resource': { href: `/api/apps/${app}` } },
    });
    // All 15 digits are exact.
    expect(job).toMatchObject({
      entityType: 'job',
      quantity: 99999999999.9999,
      credits: 999999999.999999,
      metadata: {},
    });
    expect(JSON.stringify(job.credits)).toBe('999999999.999999');
    expect(agent).toMatchObject({
      actor: `agent:${AGENT}`,
      actorType: 'agent',
      entityId: AGENT,
      quantity: 1,
      credits: 1,
    });
    expect(agent._links['svc:user']).toBeUndefined();
  });

  test('are the same in GraphQL, with the user and what is charged', async ({ billing, admin, ann, app }) => {
    const { items, ...page } = (
      await admin.data(`{
        usageEvents { start count total hasNextPage items {
          key occurredAt actor actorType entityType resourceType quantity credits metadata
          user { username } entity { __typename id }
        } }
      }`)
    ).usageEvents;
    expect(page).toEqual({ start: 0, count: 3, total: 3, hasNextPage: false });
    expect(items[2]).toEqual({
      key: 'app:1',
      occurredAt: '2026-05-01T00:00:00.000Z',
      actor: `user:${ann.id}`,
      actorType: 'USER',
      entityType: 'APP',
      resourceType: 'APP_COMPUTE',
      quantity: 0.123456,
      credits: 0.001235,
      metadata: { handler: 'onLoad' },
      user: { username: 'ann' },
      entity: { __typename: 'App', id: app },
    });
    expect(items[1]).toMatchObject({
      resourceType: 'JOB_COMPUTE',
      credits: 999999999.999999,
      user: { username: 'ann' },
    });
    expect(items[0]).toMatchObject({ actorType: 'AGENT', resourceType: 'AGENT_RUN', user: null, entity: null });
    // A caller who may read the ledger, but not the app.
    const { usageEvents } = await billing.data(
      '{ usageEvents(resourceType: APP_COMPUTE) { items { entity { id } } } }',
    );
    expect(usageEvents.items).toEqual([{ entity: null }]);
  });

  test('are filtered by actor, resource type, entity and time, in pages', async ({ billing, ann, app }) => {
    const keysWith = async (query: string) => keysOf((await billing.get(`/usage/events?${query}`)).body);
    expect(await keysWith(`actor=user:${ann.id}`)).toEqual(['job:1', 'app:1']);
    expect(await keysWith(`actor=agent:${AGENT}`)).toEqual(['agent:1']);
    expect(await keysWith('actor=nobody')).toEqual([]);
    expect(await keysWith('resourceType=job_compute')).toEqual(['job:1']);
    expect(await keysWith(`entityId=${app}`)).toEqual(['app:1']);
    expect(await keysWith('entityId=none')).toEqual([]);
    expect(await keysWith('from=2026-05-31T23:59:59.999Z&to=2026-06-01')).toEqual(['job:1']);
    expect(await keysWith(`from=2026-05-02&actor=user:${ann.id}&resourceType=app_compute`)).toEqual([]);
    await expectBody(billing.get('/usage/events?limit=1&start=1'), 200, {
      start: 1,
      count: 1,
      total: 3,
      _embedded: { 'svc:usage-event': [{ key: 'job:1' }] },
      _links: {
        next: { href: '/api/usage/events?limit=1&start=2' },
        prev: { href: '/api/usage/events?limit=1' },
      },
    });
    const document = `{ usageEvents(actor: "user:${ann.id}", from: "2026-05-02", limit: 1) { total items { key } } }`;
    expect((await billing.data(document)).usageEvents).toEqual({ total: 1, items: [{ key: 'job:1' }] });
  });

  test.for([
    ['resourceType=gold', /resourceType/],
    ['from=yesterday', /from/],
    ['to=2026-13-01', /to/],
    ['limit=0', /limit/],
    ['limit=1001', /limit/],
    ['start=-1', /start/],
    ['sort=credits', /sort/],
    ['q=app', /q/],
  ] as const)('are 400 for ?%s', async ([query, message], { billing }) => {
    await expectError(billing.get(`/usage/events?${query}`), 400, message);
  });

  test('are for callers of the tenant with billing:manage', async ({
    billing,
    readOnly,
    admin,
    ann,
    stranger,
    anonymous,
    app,
  }) => {
    expect(app).toBeTruthy();
    const document = '{ usageEvents { items { key } } }';
    for (const client of [billing, readOnly, admin]) {
      expect(keysOf((await client.get('/usage/events')).body)).toEqual(['agent:1', 'job:1', 'app:1']);
      expect((await client.data(document)).usageEvents.items).toHaveLength(3);
    }
    expect(keysOf((await stranger.get('/usage/events')).body)).toEqual(['secret:1']);
    expect((await stranger.data(document)).usageEvents.items).toEqual([{ key: 'secret:1' }]);
    await expectError(ann.get('/usage/events'), 403, 'You lack the permission billing:manage');
    await expectGraphqlError(ann.gql(document), 'FORBIDDEN', 'You lack the permission billing:manage');
    await expectStatus(anonymous.get('/usage/events'), 401);
    await expectGraphqlError(anonymous.gql(document), 'UNAUTHENTICATED');
  });

  test('are nodes for the same callers', async ({ billing, ann, stranger, app }) => {
    const { id } = (await billing.get(`/usage/events?entityId=${app}`)).body._embedded['svc:usage-event'][0];
    const document = `{ node(id: "${id}") { __typename ... on UsageEvent { key credits } } }`;
    expect((await billing.data(document)).node).toEqual({ __typename: 'UsageEvent', key: 'app:1', credits: 0.001235 });
    for (const client of [ann, stranger])
      await expectGraphqlError(client.gql(document), 'NOT_FOUND', `There is no resource ${id}`);
  });

  test('stay when their user is deleted', async ({ service, admin, billing }) => {
    const passing = await service.user('passing');
    await meterIn(service, await tenantOf(service), [
      usageOf('passing:1', { actor: `user:${passing.id}`, entityType: 'user', entityId: passing.id, resource: 'ai' }),
    ]);
    await expectStatus(admin.delete('/users/passing'), 204);
    const document = `{ usageEvents(actor: "user:${passing.id}") { items { key credits user { id } entity { id } } } }`;
    expect((await billing.data(document)).usageEvents.items).toEqual([
      { key: 'passing:1', credits: 100, user: null, entity: null },
    ]);
  });
});

describe('resource types', () => {
  const REGISTRY = [
    ['ai', 'AI', 'ai', 'event', 'dollar'],
    ['agent_run', 'Agent runs', 'ai', 'event', 'run'],
    ['app_compute', 'App compute', 'compute', 'event', 'second'],
    ['job_compute', 'Job compute', 'compute', 'event', 'second'],
    ['app_storage', 'App storage', 'storage', 'gauge', 'byte'],
    ['workspace_storage', 'Workspace storage', 'storage', 'gauge', 'byte'],
    ['file_storage', 'File storage', 'storage', 'gauge', 'byte'],
    ['es_index_count', 'Search indexes', 'storage', 'gauge', 'index'],
  ].map(([slug, name, category, mode, unit]) => ({ slug, name, category, mode, unit }));

  test('are the eight of the registry, in both APIs', async ({ admin }) => {
    const { status, body } = await admin.get('/usage/resource-types');
    expect({ status, body }).toEqual({ status: 200, body: REGISTRY });
    const { usageResourceTypes } = await admin.data('{ usageResourceTypes { slug name category mode unit } }');
    expect(usageResourceTypes).toEqual(
      REGISTRY.map(({ slug, name, ...words }) => ({
        slug: slug!.toUpperCase(),
        name,
        ...Object.fromEntries(Object.entries(words).map(([key, word]) => [key, word!.toUpperCase()])),
      })),
    );
  });

  test('are for superusers, and callers with tenant:superuser', async ({ service, billing, stranger, anonymous }) => {
    const granted = await service.user('granted', { permissions: ['tenant:superuser'], scopes: ['read'] });
    for (const client of [granted, stranger]) await expectStatus(client.get('/usage/resource-types'), 200);
    await expectError(billing.get('/usage/resource-types'), 403, 'You lack the permission tenant:superuser');
    await expectGraphqlError(
      billing.gql('{ usageResourceTypes { slug } }'),
      'FORBIDDEN',
      'You lack the permission tenant:superuser',
    );
    await expectStatus(anonymous.get('/usage/resource-types'), 401);
    await expectError(billing.request('POST', '/api/usage/resource-types', {}), 405);
  });
});
