import { describe, expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { systemQuery } from '../support/system-query.ts';
import { databaseText, test } from './ai-fixture.ts';

const IMAGE = { id: 'draw', kind: 'image', tier: 'everyday', sizes: ['512x512'], price: 0.04 };
const CHAT = { id: 'talk', kind: 'chat', tier: 'advanced', inputPrice: 2.5, outputPrice: 10.000000001 };
const INPUT = {
  name: 'Models',
  baseUrl: 'https://api.example.com/v1/',
  apiKey: 'key-1234567890',
  models: [IMAGE, CHAT],
};

describe('an AI provider', () => {
  test('has the values of its creation except its key, in both APIs', async ({ admin }) => {
    const created = await expectBody(admin.post('/ai-providers', INPUT), 201, {
      name: 'Models',
      baseUrl: 'https://api.example.com/v1',
      models: [
        { ...IMAGE, inputPrice: null, outputPrice: null },
        { ...CHAT, sizes: [], price: null },
      ],
      enabled: true,
      ownerId: null,
      permissions: { read: true, edit: true, delete: true },
    });
    expect(JSON.stringify(created)).not.toContain(INPUT.apiKey);
    const { aiProvider } = await admin.data(
      `query ($id: ID!) { aiProvider(id: $id) { name baseUrl enabled owner { id } models { name kind tier sizes price outputPrice } } }`,
      { id: created.id },
    );
    expect(aiProvider).toEqual({
      name: 'Models',
      baseUrl: 'https://api.example.com/v1',
      enabled: true,
      owner: null,
      models: [
        { name: 'draw', kind: 'IMAGE', tier: 'EVERYDAY', sizes: ['512x512'], price: 0.04, outputPrice: null },
        { name: 'talk', kind: 'CHAT', tier: 'ADVANCED', sizes: [], price: null, outputPrice: 10.000000001 },
      ],
    });
    // A record that was read can be sent back.
    await expectBody(admin.put(`/ai-providers/${created.id}`, created), 200, { models: created.models });
  });

  test('is created, updated and deleted by GraphQL', async ({ admin }) => {
    const create = `mutation ($input: CreateAiProviderInput!) { createAiProvider(input: $input) { id enabled } }`;
    const { createAiProvider } = await admin.data(create, {
      input: { ...INPUT, models: [{ ...IMAGE, kind: 'IMAGE', tier: 'EVERYDAY' }], enabled: false },
    });
    expect(createAiProvider.enabled).toBe(false);
    const { id } = createAiProvider;
    const update = `mutation ($id: ID!) { updateAiProvider(id: $id, input: { name: "Renamed" }) { name models { price } } }`;
    expect(await admin.data(update, { id })).toEqual({
      updateAiProvider: { name: 'Renamed', models: [{ price: 0.04 }] },
    });
    expect(await admin.data(`mutation ($id: ID!) { deleteAiProvider(id: $id) }`, { id })).toEqual({
      deleteAiProvider: id,
    });
    await expectStatus(admin.get(`/ai-providers/${id}`), 404);
  });

  test('requires its key again for another address', async ({ admin, service }) => {
    const { id } = await admin.creates('/ai-providers', INPUT);
    const sealed = async () => {
      const [row] = await systemQuery<{ key: string | null }>(
        service,
        `select sealed_api_key as key from dws.ai_provider where id = $1`,
        id,
      );
      return row!.key && service.platform.secrets.open(row!.key, 'a test');
    };
    const baseUrl = 'https://other.example.com/v1';
    await expectInvalid(admin.put(`/ai-providers/${id}`, { baseUrl }), 'apiKey', /is required when baseUrl changes/);
    await expectBody(admin.put(`/ai-providers/${id}`, { baseUrl: INPUT.baseUrl }), 200, { name: 'Models' });
    expect(await sealed()).toBe(INPUT.apiKey);
    await expectBody(admin.put(`/ai-providers/${id}`, { baseUrl, apiKey: 'key-new' }), 200, { baseUrl });
    expect(await sealed()).toBe('key-new');
    await expectStatus(admin.put(`/ai-providers/${id}`, { apiKey: null }), 200);
    expect(await sealed()).toBeNull();
    await expectStatus(admin.put(`/ai-providers/${id}`, { baseUrl: INPUT.baseUrl }), 200);
  });

  test('is refused with the names of its invalid values', async ({ admin }) => {
    const post = (more: object) => admin.post('/ai-providers', { ...INPUT, ...more });
    const model = (more: object) => post({ models: [{ ...IMAGE, ...more }] });
    await expectInvalid(post({ name: ' ' }), 'name', /must not be empty/);
    await expectError(post({ baseUrl: 'ftp://example.com' }), 400, /baseUrl must be an https: URL/);
    await expectError(post({ baseUrl: 'https://10.0.0.1/v1' }), 400, /not allowed: its address is not public/);
    await expectError(post({ apiKey: 'two\nlines' }), 400, /apiKey/);
    await expectInvalid(model({ price: null }), 'models.0.price', /is required for a model of the kind image/);
    await expectInvalid(model({ inputPrice: 1 }), 'models.0.inputPrice', /must not be set/);
    await expectInvalid(model({ price: -1 }), 'models.0.price', /must be a number from 0 to 1000000/);
    await expectInvalid(model({ price: 0.1 + 0.2 }), 'models.0.price', /at most 9 decimals/);
    await expectInvalid(post({ models: [IMAGE, IMAGE] }), 'models.1.id', /unique/);
    await expectInvalid(post({ models: [{ ...CHAT, sizes: ['1x1'] }] }), 'models.0.sizes', /must be empty/);
    await expectError(model({ tier: 'cheap' }), 400, /tier/);
    await expectError(model({ sizes: ['1 x 1'] }), 400, /sizes/);
    await expectError(post({ price: 1 }), 400, /price/);
    await expectError(post({ ownerId: 'ann' }), 400, /ownerId/);
  });
});

describe('AI providers of the tenant', () => {
  test('are changed by superusers, and read by users with ai:access, without their address', async ({
    admin,
    ann,
    service,
    stranger,
    anonymous,
  }) => {
    const { id } = await admin.creates('/ai-providers', INPUT);
    await expectBody(ann.get(`/ai-providers/${id}`), 200, {
      name: 'Models',
      baseUrl: null,
      enabled: true,
      permissions: { read: true, edit: false, delete: false },
    });
    expect(
      (await ann.get('/ai-providers')).body._embedded['svc:ai-provider'].map((one: { id: string }) => one.id),
    ).toContain(id);
    await expectError(ann.post('/ai-providers', INPUT), 403, /tenant:superuser/);
    await expectError(ann.put(`/ai-providers/${id}`, { name: 'x' }), 403, /tenant:superuser/);
    await expectError(ann.delete(`/ai-providers/${id}`), 403, /tenant:superuser/);
    const eve = await service.user('eve', { permissions: [] });
    await expectError(eve.get('/ai-providers'), 403, /ai:access/);
    await expectError(eve.get(`/ai-providers/${id}`), 403, /ai:access/);
    await expectError(eve.post('/ai-providers', { ...INPUT, own: true }), 403, /ai:access/);
    await expectGraphqlError(eve.gql(`{ node(id: "${id}") { id } }`), 'NOT_FOUND');
    await expectStatus(stranger.get(`/ai-providers/${id}`), 404);
    await expectStatus(stranger.put(`/ai-providers/${id}`, { name: 'x' }), 404);
    await expectStatus(stranger.delete(`/ai-providers/${id}`), 404);
    await expectStatus(anonymous.get('/ai-providers'), 401);
    await expectGraphqlError(ann.gql(`mutation { deleteAiProvider(id: "${id}") }`), 'FORBIDDEN', /tenant:superuser/);
  });
});

describe('an AI provider of one’s own', () => {
  test('is its user’s alone, and goes with the user', async ({ admin, ann, bob, service }) => {
    const cem = await service.user('cem');
    const own = await cem.creates('/ai-providers', { ...INPUT, own: true });
    expect(own).toMatchObject({ ownerId: cem.id, baseUrl: 'https://api.example.com/v1', permissions: { edit: true } });
    for (const other of [admin, ann, bob]) {
      await expectStatus(other.get(`/ai-providers/${own.id}`), 404);
      await expectStatus(other.put(`/ai-providers/${own.id}`, { name: 'x' }), 404);
      await expectStatus(other.delete(`/ai-providers/${own.id}`), 404);
      expect(JSON.stringify((await other.get('/ai-providers?limit=1000')).body)).not.toContain(own.id);
      await expectGraphqlError(other.gql(`{ node(id: "${own.id}") { id } }`), 'NOT_FOUND');
    }
    await expectBody(cem.put(`/ai-providers/${own.id}`, { enabled: false }), 200, { enabled: false });
    await expectError(cem.put(`/ai-providers/${own.id}`, { ownerId: ann.id }), 400, /ownerId/);
    await expectStatus(admin.delete('/users/cem'), 204);
    expect(await systemQuery(service, `select from dws.ai_provider where id = $1`, own.id)).toEqual([]);
  });
});

test('keys are neither in responses, the log, the audit nor the database', async ({ admin, service, log }) => {
  const apiKey = 'key-that-is-nowhere-0123456789';
  const created = await admin.creates('/ai-providers', { ...INPUT, apiKey });
  await admin.put(`/ai-providers/${created.id}`, { apiKey: `${apiKey}2` });
  const texts = [created, (await admin.get('/audit')).body, (await admin.get(`/ai-providers/${created.id}`)).body];
  expect(JSON.stringify(texts)).not.toContain(apiKey);
  expect(log.join('')).not.toContain(apiKey);
  expect(await databaseText(service)).not.toContain(apiKey);
});
