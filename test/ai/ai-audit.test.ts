import { describe, expect } from 'vitest';
import { sweepAiCalls, sweepImages } from '../../src/operations/janitor.ts';
import { recordEvents } from '../support/audit-fixture.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { systemQuery } from '../support/system-query.ts';
import { chargesOf, databaseText, PROMPT, test } from './ai-fixture.ts';

describe('the audit of AI calls', () => {
  test('has every call with who, what, how long and what it cost', async ({
    service,
    fake,
    provider,
    admin,
    ann,
    stranger,
  }) => {
    const { id: assistantId } = await ann.creates('/assistants', { name: 'Painter' });
    await expectStatus(ann.post(`/assistants/${assistantId}/_create-image`, { prompt: PROMPT }), 200);
    fake.behaviors.push({ status: 400, message: 'The prompt is not allowed' });
    await expectStatus(ann.post('/_create-image', { prompt: PROMPT }), 400);
    const { body } = await admin.get(`/ai/audit?actor=user:${ann.id}`);
    const common = {
      actor: `user:${ann.id}`,
      userId: ann.id,
      action: 'image',
      providerId: provider.id,
      providerName: 'Fake',
      ownProvider: false,
      model: 'fake-image',
      size: '1024x1024',
      inputTokens: null,
      outputTokens: null,
      duration: expect.any(Number),
      prompt: PROMPT,
    };
    expect(body._embedded['svc:ai-call']).toMatchObject([
      {
        ...common,
        entityType: 'user',
        entityId: ann.id,
        status: 'failed',
        credits: null,
        error: { statusCode: 400, code: 'BAD_USER_INPUT', message: expect.stringMatching(/not allowed/) },
      },
      { ...common, entityType: 'assistant', entityId: assistantId, status: 'succeeded', credits: 4, error: null },
    ]);
    const [, succeeded] = body._embedded['svc:ai-call'];
    expect(await chargesOf(service, ann)).toMatchObject([{ key: `ai:${succeeded.id}`, credits: '4.000000' }]);
    const query = `{ aiCalls(status: FAILED) { total items { user { username } status action error { code } prompt } } }`;
    expect((await admin.data(query)).aiCalls).toEqual({
      total: 1,
      items: [
        {
          user: { username: 'ann' },
          status: 'FAILED',
          action: 'IMAGE',
          error: { code: 'BAD_USER_INPUT' },
          prompt: PROMPT,
        },
      ],
    });
    expect((await stranger.get('/ai/audit')).body.total).toBe(0);
    expect((await admin.get('/ai/audit?to=2020-01-01')).body.total).toBe(0);
  });

  test('is separate from the audit log, which names the image', async ({ service, provider: _, ann }) => {
    let imageId = '';
    const events = await recordEvents(service, async () => {
      imageId = (await ann.creates('/_create-image', { prompt: PROMPT })).id;
    });
    expect(events).toMatchObject([{ action: 'createImage', kind: 'image', resourceId: imageId }]);
  });

  test('is for superusers only', async ({ service, provider: _, admin, ann, anonymous }) => {
    await expectStatus(ann.post('/_create-image', { prompt: PROMPT }), 200);
    const [call] = (await admin.get('/ai/audit')).body._embedded['svc:ai-call'];
    const cashier = await service.user('cashier', { permissions: ['billing:manage', 'ai:access'] });
    for (const caller of [ann, cashier]) {
      await expectError(caller.get('/ai/audit'), 403, /tenant:superuser/);
      expect((await caller.gql(`{ node(id: "${call.id}") { id } }`)).errors).toMatchObject([
        { extensions: { code: 'NOT_FOUND' } },
      ]);
    }
    await expectStatus(anonymous.get('/ai/audit'), 401);
  });

  test('keeps prompts for 90 days and calls for 400; images are kept for 90', async ({
    service,
    provider: _,
    admin,
    ann,
  }) => {
    const image = await ann.creates('/_create-image', { prompt: PROMPT });
    const age = async (days: number) => {
      for (const table of ['ai_call', 'image'])
        await systemQuery(service, `update dws.${table} set created_at = now() - $1 * interval '1 day'`, days);
      await service.platform.system.transaction(async (query) => {
        await sweepImages(query);
        await sweepAiCalls(query);
      });
    };
    await age(89);
    await expectBody(ann.get(`/images/${image.id}`), 200, { prompt: PROMPT });
    await age(91);
    await expectStatus(ann.get(`/images/${image.id}`), 404);
    const { body } = await admin.get('/ai/audit');
    expect(new Set(body._embedded['svc:ai-call'].map((call: { prompt: string | null }) => call.prompt))).toEqual(
      new Set([null]),
    );
    await age(401);
    expect((await admin.get('/ai/audit')).body.total).toBe(0);
  });
});

test('prompt and key are neither in the log, the ledger, other responses nor the text of the database', async ({
  service,
  fake,
  provider: _,
  admin,
  ann,
  log,
}) => {
  const image = await ann.creates('/_create-image', { prompt: PROMPT, progress: 'secret' });
  for (const behavior of [
    { status: 400, message: 'Refused: {prompt} {key}' },
    { status: 500, message: '{prompt} {key}' },
    { body: '{prompt} {key}' },
    { file: Buffer.from(`<html>${PROMPT}`).toString('base64') },
    { url: `https://127.0.0.1:1/${encodeURIComponent(PROMPT)}` },
    { isCut: true },
  ]) {
    fake.behaviors.push(behavior);
    const { status, body } = await ann.post('/_create-image', { prompt: PROMPT });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(body)).not.toMatch(/walrus|fake-ai-key/);
  }
  const responses = await Promise.all([
    ann.get('/progress'),
    ann.get('/progress/secret'),
    admin.get('/usage/events'),
    admin.get('/audit'),
    admin.get('/ai-providers'),
  ]);
  for (const { status, body } of responses) {
    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toMatch(/walrus|fake-ai-key/);
  }
  expect(log.join('')).not.toMatch(/walrus|fake-ai-key/);
  const text = await databaseText(service);
  expect(text).toContain(image.id);
  expect(text).not.toMatch(/walrus|fake-ai-key/);
});
