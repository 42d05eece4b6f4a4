import { describe, expect } from 'vitest';
import { chargesOf, countReservations, limit, PROMPT, test } from '../ai/ai-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { animatedGif, pngBomb, rasterOf } from '../support/picture-files.ts';
import { systemQuery } from '../support/system-query.ts';

const INPUT = { prompt: PROMPT };

/** Waits until an operation has succeeded. Returns its record. */
async function expectSucceeded(caller: Client, id: string) {
  const read = async () => (await caller.get(`/progress/${id}`)).body;
  await expect.poll(async () => (await read()).status).toBe('succeeded');
  return read();
}

describe('an image', () => {
  test('is created, charged and shown to its user, by REST', async ({
    service,
    fake,
    provider: _,
    ann,
    bob,
    admin,
  }) => {
    const created = await expectBody(ann.post('/_create-image', INPUT), 200, {
      id: expect.any(String),
      url: expect.stringMatching(/^\/api\/images\/[0-9a-f-]+\/contents$/),
      prompt: PROMPT,
      model: 'fake-image',
      size: '1024x1024',
      contentType: 'image/png',
      userId: ann.id,
      assistantId: null,
      createdAt: expect.any(String),
    });
    expect(fake.calls).toMatchObject([{ model: 'fake-image', prompt: PROMPT, size: '1024x1024' }]);
    expect((await chargesOf(service, ann)).at(-1)).toMatchObject({
      key: expect.stringMatching(/^ai:/),
      credits: '4.000000',
      entityType: 'user',
      entityId: ann.id,
      metadata: { action: 'image', model: 'fake-image', size: '1024x1024' },
    });
    expect(await countReservations(service)).toBe(0);
    const path = `/images/${created.id}`;
    await expectBody(ann.get(path), 200, { prompt: PROMPT, url: created.url, permissions: { delete: true } });
    expect((await ann.get('/images')).body._embedded['svc:image'][0].id).toBe(created.id);
    for (const other of [bob, admin]) {
      await expectStatus(other.get(path), 404);
      await expectStatus(other.get(`${path}/contents`), 404);
      await expectStatus(other.delete(path), 404);
      expect(JSON.stringify((await other.get('/images')).body)).not.toContain(created.id);
    }
    const contents = await fetch(`${service.url}${created.url}`, { headers: ann.headers });
    expect(Object.fromEntries(contents.headers)).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/default-src 'none'.*sandbox/),
      etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
    });
    expect(
      Buffer.from(await contents.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    const etag = contents.headers.get('etag')!;
    await expectStatus(ann.get(`${path}/contents`, { 'if-none-match': etag }), 304);
    await expectStatus(ann.delete(path), 204);
    await expectStatus(ann.get(path), 404);
    await expectStatus(ann.get(`${path}/contents`), 404);
    expect(await systemQuery(service, `select from dws.stored_file where content_type = 'image/png'`)).toEqual([]);
  });

  test('is created by GraphQL, also without waiting', async ({ provider: _, ann }) => {
    const create = `mutation ($wait: Boolean!) {
      createImage(input: { prompt: "A boat", size: "512x512" }, wait: $wait, progress: "boat") {
        operation { status result }
        result { id url prompt model size user { username } assistant { id } }
      }
    }`;
    const { createImage } = await ann.data(create, { wait: true });
    const { id } = createImage.result;
    expect(createImage).toEqual({
      operation: {
        status: 'SUCCEEDED',
        result: {
          id,
          url: `/api/images/${id}/contents`,
          model: 'fake-image',
          size: '512x512',
          createdAt: expect.any(String),
        },
      },
      result: {
        id,
        url: `/api/images/${id}/contents`,
        prompt: 'A boat',
        model: 'fake-image',
        size: '512x512',
        user: { username: 'ann' },
        assistant: null,
      },
    });
    const later = await ann.data(create, { wait: false });
    expect(later.createImage.result).toBeNull();
    await expectSucceeded(ann, 'boat');
    expect(await ann.data(`mutation { deleteImage(id: "${id}") }`)).toEqual({ deleteImage: id });
    await expectGraphqlError(ann.gql(`{ image(id: "${id}") { id } }`), 'NOT_FOUND');
  });

  test('can be requested without waiting, and followed', async ({ provider: _, ann }) => {
    const accepted = await ann.post('/_create-image', { ...INPUT, progress: 'art' }, { prefer: 'respond-async' });
    expect(accepted).toMatchObject({ status: 202, body: { operation: 'image.create', resource: { kind: 'image' } } });
    const { result } = await expectSucceeded(ann, 'art');
    await expectBody(ann.get(`/images/${result.id}`), 200, { prompt: PROMPT });
  });

  test('is downloaded where the provider returns a URL, and stored as JPEG and WebP', async ({
    fake,
    provider: _,
    ann,
  }) => {
    fake.behaviors.push({ url: true });
    await expectBody(ann.post('/_create-image', INPUT), 200, { contentType: 'image/png' });
    expect(fake.leakedKeys).toBe(0);
    for (const format of ['jpeg', 'webp'] as const) {
      fake.behaviors.push({ file: (await rasterOf(format)).toString('base64') });
      await expectBody(ann.post('/_create-image', INPUT), 200, { contentType: `image/${format}` });
    }
  });

  test('is refused by name for a prompt, a model or a size that is not valid', async ({ fake, provider: _, ann }) => {
    const post = (body: object) => ann.post('/_create-image', body);
    await expectInvalid(post({}), 'prompt', /is required/);
    await expectInvalid(post({ prompt: ' ' }), 'prompt', /must not be empty/);
    await expectInvalid(post({ prompt: 'x'.repeat(4001) }), 'prompt', /at most 4000 characters/);
    await expectError(post({ prompt: 1 }), 400, /prompt/);
    await expectInvalid(
      post({ ...INPUT, model: 'fake-chat' }),
      'model',
      /must be one of fake-image, fake-image-small, fake-image-large/,
    );
    await expectInvalid(post({ ...INPUT, size: '1x1' }), 'size', /must be one of 1024x1024, 512x512, 64x64/);
    await expectError(post({ ...INPUT, count: 2 }), 400, /count/);
    expect(fake.calls).toEqual([]);
    await expectStatus(post({ prompt: '🦊'.repeat(4000), size: '512x512' }), 200);
  });

  test('requires an AI provider, ai:access and credentials', async ({ admin, ann, anonymous, service, provider }) => {
    await admin.put(provider.path, { enabled: false });
    await expectError(ann.post('/_create-image', INPUT), 409, /No AI provider/);
    const eve = await service.user('eve', { permissions: ['assistants:create'] });
    await expectError(eve.post('/_create-image', INPUT), 403, /ai:access/);
    await expectStatus(anonymous.post('/_create-image', INPUT), 401);
    const { id } = await eve.creates('/assistants', { name: 'Of Eve' });
    await expectError(eve.post(`/assistants/${id}/_create-image`, INPUT), 403, /ai:access/);
  });
});

describe('an image of an assistant', () => {
  test('is charged to it, and seen by its readers', async ({ service, provider: _, ann, bob, admin, stranger }) => {
    const { id } = await ann.creates('/assistants', { name: 'Painter' });
    const path = `/assistants/${id}/_create-image`;
    await expectStatus(bob.post(path, INPUT), 404);
    await ann.put(`/assistants/${id}/shares/bob`, { accessLevel: 1 });
    await expectError(bob.post(path, INPUT), 403, /assistant:write/);
    const image = await expectBody(ann.post(path, INPUT), 200, { assistantId: id, userId: ann.id });
    expect((await chargesOf(service, ann)).at(-1)).toMatchObject({ entityType: 'assistant', entityId: id });
    await expectBody(bob.get(`/images/${image.id}`), 200, { prompt: PROMPT, permissions: { delete: false } });
    await expectStatus(bob.get(`/images/${image.id}/contents`), 200);
    await expectBody(admin.get(`/images/${image.id}`), 200, { permissions: { delete: true } });
    await expectStatus(stranger.get(`/images/${image.id}`), 404);
    await expectError(bob.delete(`/images/${image.id}`), 403, /image:delete/);
    const { _links } = (await bob.get(`/assistants/${id}`)).body;
    await expectBody(bob.request('GET', _links['svc:images'].href), 200, { total: 1 });
    await expectError(bob.get('/images?assistantId=no-uuid'), 404, /no-uuid/);
    const query = `{ assistant(id: "painter") { images { total items { id assistant { slug } } } } }`;
    expect((await bob.data(query)).assistant.images).toEqual({
      total: 1,
      items: [{ id: image.id, assistant: { slug: 'painter' } }],
    });
    await ann.put(`/assistants/${id}/shares/bob`, { accessLevel: 2 });
    const own = await expectBody(bob.post(path, INPUT), 200, { userId: bob.id });
    await expectStatus(bob.delete(`/images/${image.id}`), 204);
    // Without its assistant an image is its user's alone.
    await expectStatus(ann.delete(`/assistants/${id}`), 204);
    await expectBody(bob.get(`/images/${own.id}`), 200, { assistantId: null });
    await expectStatus(ann.get(`/images/${own.id}`), 404);
  });

  test('is created by GraphQL', async ({ provider: _, ann }) => {
    await ann.creates('/assistants', { name: 'Sculptor' });
    const { createAssistantImage } = await ann.data(
      `mutation { createAssistantImage(assistantId: "sculptor", input: { prompt: "A vase" }) { result { assistant { name } } } }`,
    );
    expect(createAssistantImage.result.assistant).toEqual({ name: 'Sculptor' });
  });
});

describe('what a provider returns instead of an image', () => {
  test.for([
    ['a GIF', async () => animatedGif()],
    ['an SVG', async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')],
    ['HTML', async () => Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['a bomb', async () => pngBomb()],
    ['half a picture', async () => (await rasterOf('png')).subarray(0, 100)],
    ['more than a picture', async () => Buffer.concat([await rasterOf('png'), Buffer.from('<script>')])],
  ] as const)(
    '%s is refused, and costs what the provider bills',
    async ([, bytes], { service, fake, provider: _, ann }) => {
      const charges = (await chargesOf(service, ann)).length;
      fake.behaviors.push({ file: (await bytes()).toString('base64') });
      await expectError(ann.post('/_create-image', INPUT), 500, /returned an image that cannot be used/);
      expect((await chargesOf(service, ann)).slice(charges)).toMatchObject([{ credits: '4.000000' }]);
      expect(await countReservations(service)).toBe(0);
    },
  );

  test('an error is passed on without the key and the prompt, and costs nothing', async ({
    service,
    fake,
    provider: _,
    ann,
  }) => {
    const charges = (await chargesOf(service, ann)).length;
    for (const [status, expected] of [
      [400, 400],
      [401, 500],
      [429, 503],
      [500, 500],
    ] as const) {
      fake.behaviors.push({ status, message: 'Refused {key}: {prompt}', headers: { 'retry-after': '301' } });
      const { status: received, body } = await ann.post('/_create-image', INPUT);
      expect([received, JSON.stringify(body)]).toEqual([expected, expect.not.stringMatching(/walrus|fake-ai-key/)]);
    }
    expect((await chargesOf(service, ann)).length).toBe(charges);
    // The provider has created this one.
    fake.behaviors.push({ url: 'http://169.254.169.254/latest/meta-data' });
    await expectError(ann.post('/_create-image', INPUT), 400, /169\.254\.169\.254/);
    expect((await chargesOf(service, ann)).slice(charges)).toMatchObject([{ credits: '4.000000' }]);
    expect(await countReservations(service)).toBe(0);
  });
});

describe('limits', () => {
  test('past the cap, 402 names the figures, and nothing is called', async ({ service, fake, provider: _ }) => {
    const dora = await service.user('dora');
    await limit(service, [dora], 7);
    await expectStatus(dora.post('/_create-image', INPUT), 200);
    const calls = fake.calls.length;
    await expectError(dora.post('/_create-image', INPUT), 402, /requires 4, 4 of 7 are used and 0 reserved/);
    const mutation = `mutation { createImage(input: { prompt: "x" }) { result { id } } }`;
    await expectGraphqlError(dora.gql(mutation), 'CREDITS_SPENT', /4 of 7/);
    expect(fake.calls.length).toBe(calls);
    expect(await countReservations(service)).toBe(0);
  });

  test('a tier that is not allowed is 403, and nothing is called', async ({ service, fake, provider: _ }) => {
    const emil = await service.user('emil');
    await limit(service, [emil], null, ['everyday']);
    await expectError(emil.post('/_create-image', { ...INPUT, model: 'fake-image-large' }), 403, /tier strategic/);
    expect(fake.calls).toEqual([]);
  });

  test('an own provider comes first and is not metered, neither cap nor tier bind', async ({
    service,
    fake,
    provider: _,
    admin,
  }) => {
    const finn = await service.user('finn');
    await limit(service, [finn], 0, []);
    await expectStatus(finn.post('/_create-image', INPUT), 403);
    const own = { ...fake.provider, own: true, models: [{ id: 'mine', kind: 'image', tier: 'strategic', price: 5 }] };
    const { id } = await finn.creates('/ai-providers', own);
    await expectBody(finn.post('/_create-image', INPUT), 200, { model: 'mine', size: null });
    expect(await chargesOf(service, finn)).toEqual([]);
    const { body } = await admin.get(`/ai/audit?actor=user:${finn.id}`);
    expect(body._embedded['svc:ai-call']).toMatchObject([
      { providerId: id, ownProvider: true, credits: null, status: 'succeeded', prompt: PROMPT },
    ]);
    // Models that only the tenant's provider has are metered.
    await expectStatus(finn.post('/_create-image', { ...INPUT, model: 'fake-image' }), 403);
    await finn.put(`/ai-providers/${id}`, { enabled: false });
    await expectStatus(finn.post('/_create-image', INPUT), 403);
  });

  test('past the quota, 413 calls nothing if it is used up; what the provider has created is charged', async ({
    service,
    fake,
    provider: _,
    ann,
  }) => {
    const { config } = service.platform;
    await expectStatus(ann.post('/_create-image', INPUT), 200);
    const [used] = await systemQuery<{ bytes: number }>(
      service,
      'select sum(size)::int as bytes from dws.stored_file where tenant_id = (select tenant_id from dws.app_user where id = $1)',
      ann.id,
    );
    const charges = await chargesOf(service, ann);
    try {
      config.TENANT_QUOTA_BYTES = 1;
      await expectError(ann.post('/_create-image', INPUT), 413, /quota/);
      expect(fake.calls.length).toBe(1);
      expect(await chargesOf(service, ann)).toEqual(charges);
      config.TENANT_QUOTA_BYTES = used!.bytes + 10;
      await expectError(ann.post('/_create-image', INPUT), 413, /quota/);
      expect(fake.calls.length).toBe(2);
    } finally {
      config.TENANT_QUOTA_BYTES = 0;
    }
    expect((await chargesOf(service, ann)).slice(charges.length)).toMatchObject([{ credits: '4.000000' }]);
    expect(await countReservations(service)).toBe(0);
  });
});
