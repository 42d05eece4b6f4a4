import { describe, expect, test } from 'vitest';
import { chatPrice, estimateChat, imagePrice, lowerPrice } from '../../src/services/ai/ai-price.ts';

describe('the price of an image', () => {
  test.each([
    ['0', '0.000000000', '0.000000'],
    ['0.04', '0.040000000', '4.000000'],
    ['0.000000005', '0.000000005', '0.000001'],
    ['0.000000004', '0.000000004', '0.000000'],
    ['1000000', '1000000.000000000', '100000000.000000'],
  ])('of %s dollars is %s dollars and %s credits', (price, dollars, credits) => {
    expect(imagePrice({ price })).toEqual({ dollars, credits });
  });
});

describe('the price of a chat', () => {
  const model = { inputPrice: '2.5', outputPrice: '10.000000001' };

  test.each([
    [0, 0, '0.000000000'],
    [1, 0, '0.000002500'],
    [0, 1, '0.000010000'],
    [0, 1_000_000, '10.000000001'],
    // 10.0000000005 and 10.0000000004: the half is rounded up.
    [0, 500_000, '5.000000001'],
    [0, 400_000, '4.000000000'],
    [123_456, 7_890, '0.387540000'],
    [1_000_000_000, 1_000_000_000, '12500.000001000'],
  ])('of %i and %i tokens is %s dollars', (inputTokens, outputTokens, dollars) => {
    expect(chatPrice(model, { inputTokens, outputTokens }).dollars).toBe(dollars);
  });

  test('is at most the estimate, which counts bytes', () => {
    const messages = [{ role: 'user' as const, content: 'ä'.repeat(100) }];
    const estimate = estimateChat(model, { messages, tools: [], maxTokens: 1000 });
    const actual = chatPrice(model, { inputTokens: 200, outputTokens: 1000 });
    expect(lowerPrice(estimate, actual)).toEqual(actual);
    expect(lowerPrice(actual, estimate)).toEqual(actual);
    expect(lowerPrice(estimate, { dollars: '1', credits: '100' })).toEqual(estimate);
  });
});
