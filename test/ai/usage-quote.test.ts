import { describe, expect } from 'vitest';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { chargesOf, limit, PROMPT, test } from './ai-fixture.ts';

describe('a quote', () => {
  test('and the call agree to the last digit', async ({ service, fake, admin, ann, provider }) => {
    const prices = [0, 0.04, 0.123456789, 0.000000005, 12.000000001, 0.333333333];
    const models = prices.map((price, index) => ({
      id: `m${index}`,
      kind: 'image',
      tier: 'everyday',
      sizes: ['64x64'],
      price,
    }));
    await admin.put(provider.path, { models });
    await limit(service, [ann], null);
    for (const { id } of models) {
      const quote = await expectBody(ann.post('/usage/quote', { action: 'image', model: id }), 200, { allowed: true });
      await expectStatus(ann.post('/_create-image', { prompt: PROMPT, model: id }), 200);
      expect(Number((await chargesOf(service, ann)).at(-1)!.credits)).toBe(quote.credits);
    }
    expect(fake.calls.length).toBe(prices.length);
  });

  test('has what is left and why it is not allowed, in both APIs, and calls nothing', async ({
    service,
    fake,
    provider: _,
  }) => {
    const dora = await service.user('dora');
    await limit(service, [dora], 5);
    const quote = { action: 'image', model: 'fake-image', size: '512x512' };
    await expectBody(dora.post('/usage/quote', quote), 200, { credits: 4, remaining: 5, allowed: true, reason: null });
    await expectStatus(dora.post('/_create-image', { prompt: PROMPT }), 200);
    const refused = await expectBody(dora.post('/usage/quote', { action: 'image' }), 200, {
      credits: 4,
      remaining: 1,
      allowed: false,
      reason: expect.stringMatching(/requires 4, 4 of 5 are used/),
    });
    const { usageQuote } = await dora.data(
      `{ usageQuote(input: { action: IMAGE }) { credits remaining allowed reason } }`,
    );
    expect(usageQuote).toEqual(refused);
    const { body } = await dora.post('/_create-image', { prompt: PROMPT });
    expect(body).toMatchObject({ statusCode: 402, code: 'CREDITS_SPENT', message: refused.reason });
    await limit(service, [dora], null, ['everyday']);
    await expectBody(dora.post('/usage/quote', { action: 'image', model: 'fake-image-large' }), 200, {
      credits: 19,
      remaining: null,
      allowed: false,
      reason: expect.stringMatching(/tier strategic/),
    });
    expect(fake.calls.length).toBe(1);
  });

  test('is 0 with a provider of one’s own', async ({ service, fake, provider: _ }) => {
    const emil = await service.user('emil');
    await limit(service, [emil], 0, []);
    await emil.creates('/ai-providers', { ...fake.provider, own: true });
    await expectBody(emil.post('/usage/quote', { action: 'image' }), 200, { credits: 0, remaining: 0, allowed: true });
  });

  test('fails as the call does', async ({ admin, ann, anonymous, service, provider }) => {
    const quote = (body: object) => ann.post('/usage/quote', body);
    await expectError(quote({ action: 'image', model: 'x' }), 400, /model must be one of/);
    await expectError(quote({ action: 'image', size: 'x' }), 400, /size must be one of/);
    await expectError(quote({ action: 'image', agentId: ann.id }), 400, /agentId/);
    await expectError(quote({ action: 'x' }), 400, /action/);
    await expectError(quote({}), 400, /action/);
    const eve = await service.user('eve', { permissions: [] });
    await expectError(eve.post('/usage/quote', { action: 'image' }), 403, /ai:access/);
    await expectStatus(anonymous.post('/usage/quote', { action: 'image' }), 401);
    await admin.put(provider.path, { enabled: false });
    await expectError(quote({ action: 'image' }), 409, /No AI provider/);
  });
});
