import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openAiClient } from '../../src/adapters/ai/ai-client.ts';
import { createGuardedFetch } from '../../src/adapters/outbound/guarded-fetch.ts';
import { newCallTrace, type AiClient, type AiEndpoint, type ChatRequest } from '../../src/core/ai.ts';
import type { ApiError } from '../../src/core/errors.ts';
import type { OutboundClient } from '../../src/core/outbound.ts';
import { startAiFake } from '../../tools/ai-fake.ts';
import type { AiFake, FakeBehavior } from '../../tools/ai-fake/fake-provider.ts';

const PROMPT = 'A red fox in the snow';
const IMAGE = { model: 'fake-image', prompt: PROMPT, size: '64x64' };
const CHAT: ChatRequest = {
  model: 'fake-chat',
  messages: [{ role: 'user', content: PROMPT }],
  tools: [],
  maxTokens: 50,
};
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

let fake: AiFake;
let outbound: OutboundClient;
let client: AiClient;
/** A client whose calls may take as long as a loaded machine needs. */
let patient: AiClient;
let endpoint: AiEndpoint;

beforeAll(async () => {
  fake = await startAiFake();
  outbound = createGuardedFetch({ allowed: ['127.0.0.1'], timeouts: { firstByte: 100 } });
  client = openAiClient({ outbound, timeoutMs: 1000 });
  patient = openAiClient({ outbound, timeoutMs: 60_000 });
  endpoint = { baseUrl: fake.provider.baseUrl, apiKey: fake.apiKey };
});
beforeEach(() => fake.reset());
afterAll(() => Promise.all([outbound.close(), fake.close()]));

const signal = new AbortController().signal;
const createImage = (at = endpoint, by = client) => by.createImage(at, IMAGE, signal, newCallTrace());
const chat = (more: Partial<ChatRequest> = {}, by = client) =>
  by.chat(endpoint, { ...CHAT, ...more }, signal, newCallTrace());
const behave = (behavior: FakeBehavior): void => void fake.behaviors.push(behavior);
const failed = async (call: Promise<unknown>): Promise<[status: number, message: string]> => {
  const error = await call.then(
    () => expect.fail('The call succeeded'),
    (reason: ApiError) => reason,
  );
  expect(error.message).not.toContain(fake.apiKey);
  expect(error.message).not.toContain(PROMPT);
  return [error.status, error.message];
};

describe('an image', () => {
  test('is returned as base64 or as a URL, whose host does not get the key', async () => {
    const image = await createImage();
    expect(image.subarray(0, 4)).toEqual(PNG);
    expect(fake.calls).toMatchObject([{ kind: 'image', model: 'fake-image', prompt: PROMPT, size: '64x64', n: 1 }]);
    behave({ url: true });
    expect(await createImage()).toEqual(image);
    expect(fake.leakedKeys).toBe(0);
  });

  test('may be a data URL, or Base64 in lines', async () => {
    const image = await createImage();
    const base64 = image.toString('base64');
    const url = `data:image/png;base64,${base64}`;
    for (const data of [{ url }, { b64_json: url }, { b64_json: base64.replaceAll(/.{76}/g, '$&\r\n') }]) {
      behave({ body: { data: [data] } });
      expect((await createImage()).equals(image)).toBe(true);
    }
  });

  test('may take longer than other outgoing calls, but not longer than the time of a call', async () => {
    behave({ delayMs: 400 });
    await createImage();
    behave({ hangs: true });
    expect(await failed(createImage())).toEqual([503, 'The host "127.0.0.1" did not respond within 1 seconds']);
  });

  test('has no size for a model without sizes, and no key for a provider without one', async () => {
    await client.createImage(endpoint, { ...IMAGE, size: null }, signal, newCallTrace());
    expect(fake.calls[0]).not.toHaveProperty('size');
    expect(await failed(createImage({ ...endpoint, apiKey: null }))).toEqual([
      500,
      'The host "127.0.0.1" responded with 401: Incorrect API key provided: none',
    ]);
  });

  test('of more than 20 MB is refused, as base64 and at a URL', async () => {
    for (const url of [undefined, true] as const) {
      behave({ bytes: 20_500_000, url });
      expect(await failed(createImage(endpoint, patient))).toEqual([
        500,
        expect.stringMatching(/has more than \d+ bytes$/),
      ]);
    }
    behave({ bytes: 19_900_000 });
    expect((await createImage(endpoint, patient)).length).toBe(19_900_000);
  });

  test.each<[name: string, body: unknown, problem: string]>([
    ['HTML', '<html>', 'it is not a JSON object'],
    ['a list', [], 'it is not a JSON object'],
    ['no data', {}, 'it has no image'],
    ['empty data', { data: [null] }, 'it has no image'],
    ['a number', { data: [{ b64_json: 1 }] }, 'it has no image'],
    ['no base64', { data: [{ b64_json: `not base64: ${PROMPT}` }] }, 'the image is not base64'],
  ])('is refused when the response is malformed: %s', async (_name, body, problem) => {
    behave({ body });
    expect(await failed(createImage())).toEqual([500, `The response of the host "127.0.0.1" is malformed: ${problem}`]);
  });

  test('is not downloaded from addresses that are not allowed', async () => {
    for (const url of [
      'http://169.254.169.254/latest',
      'http://127.0.0.2:59998/',
      'https://10.0.0.1/',
      'file:///etc/passwd',
    ]) {
      behave({ url });
      expect((await failed(createImage()))[0]).toBe(400);
    }
    expect(await failed(createImage({ ...endpoint, baseUrl: 'http://127.0.0.2:59998/v1' }))).toEqual([
      400,
      expect.stringContaining('127.0.0.2'),
    ]);
  });

  test('is cancelled down to the call', async () => {
    const controller = new AbortController();
    behave({ hangs: true });
    fake.onCall = () => controller.abort(new Error('cancelled'));
    await expect(client.createImage(endpoint, IMAGE, controller.signal, newCallTrace())).rejects.toThrow('cancelled');
  });
});

describe('an error of the provider', () => {
  test.each([
    [400, 400],
    [401, 500],
    [403, 500],
    [404, 500],
    [500, 500],
    [302, 500],
    [429, 503],
    [502, 503],
    [503, 503],
    [504, 503],
    [529, 503],
  ])('%i is %i', async (status, expected) => {
    behave({ status, message: 'Your request was rejected', headers: { 'retry-after': '301' } });
    expect(await failed(createImage())).toEqual([
      expected,
      `The host "127.0.0.1" responded with ${status}: Your request was rejected`,
    ]);
    expect(fake.calls.length).toBe(1);
  });

  test.each([429, 502, 503, 504, 529])('%i is tried again, for images too', async (status) => {
    behave({ status, headers: { 'retry-after': '0' }, count: 4 });
    expect((await createImage()).subarray(0, 4)).toEqual(PNG);
    expect(fake.calls.length).toBe(5);
  });

  test.each<[form: string, body: unknown, words: string]>([
    ['a list of one error (Gemini)', [{ error: { code: 400, message: 'Rejected' } }], ': Rejected'],
    ['a text as the error', { error: 'Rejected' }, ': Rejected'],
    ['a detail', { detail: 'Rejected' }, ': Rejected'],
    ['another value', null, ': null'],
  ])('in the form of %s is named', async (_form, body, words) => {
    behave({ status: 400, text: JSON.stringify(body) });
    expect(await failed(createImage())).toEqual([400, `The host "127.0.0.1" responded with 400${words}`]);
  });

  test('in a response with status 200 is named, and not taken for a result', async () => {
    for (const call of [createImage, chat] as const) {
      behave({ body: { error: { code: 429, message: `Busy with ${PROMPT}, ${fake.apiKey}` }, data: null } });
      expect(await failed(call())).toEqual([500, 'The host "127.0.0.1" responded with an error: Busy with …, …']);
    }
    expect(fake.calls.length).toBe(2);
  });

  test('quotes neither the key nor the prompt, nor parts of it', async () => {
    behave({ status: 400, message: 'Key {key}, prompt "{prompt}", RED FOX IN THE…' });
    expect((await failed(createImage()))[1]).toBe('The host "127.0.0.1" responded with 400: Key …, prompt "…",……');
    behave({ status: 400, message: 'catalogue: "cat" is refused' });
    const error = client.createImage(endpoint, { ...IMAGE, prompt: 'cat' }, signal, newCallTrace());
    expect((await failed(error))[1]).toBe('The host "127.0.0.1" responded with 400: catalogue: "…" is refused');
  });

  test('quotes no part of the prompt or the key that an image has in place of a URL', async () => {
    for (const url of [PROMPT, `https://${fake.apiKey}.invalid/`, `x:${PROMPT.slice(0, 15)}`]) {
      behave({ url });
      const [, message] = await failed(createImage());
      expect(message).not.toContain(PROMPT.slice(0, 12));
    }
  });

  test('blocks no other call with an error that has to be compared with many messages', async () => {
    const messages = Array.from({ length: 500 }, (_, i) => ({ role: 'user' as const, content: `A message ${i}` }));
    behave({ status: 500, message: 'a'.repeat(16_000) });
    const startedAt = performance.now();
    expect((await failed(chat({ messages }, patient)))[0]).toBe(500);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    behave({ status: 500, message: PROMPT });
    const long = { role: 'user' as const, content: `${PROMPT}${'x'.repeat(600_000)}` };
    expect((await failed(chat({ messages: [long] }, patient)))[1]).toBe('The host "127.0.0.1" responded with 500');
  });

  test('is UNAVAILABLE when the connection is lost or refused', async () => {
    behave({ isCut: true });
    expect((await failed(createImage()))[0]).toBe(503);
    expect((await failed(createImage({ ...endpoint, baseUrl: 'http://127.0.0.1:59999/v1' })))[0]).toBe(503);
  });
});

describe('a chat', () => {
  const tool = { name: 'lookup', description: 'Finds', parameters: { type: 'object' } };

  test('returns text and tokens', async () => {
    expect(await chat()).toEqual({
      content: `You said: ${PROMPT}`,
      toolCalls: [],
      message: { role: 'assistant', content: `You said: ${PROMPT}` },
      problems: [],
      inputTokens: expect.any(Number),
      outputTokens: expect.any(Number),
      isEstimated: false,
    });
    expect(fake.calls).toMatchObject([
      { kind: 'chat', model: 'fake-chat', max_tokens: 50, messages: [{ role: 'user', content: PROMPT }] },
    ]);
    expect(fake.calls[0]).not.toHaveProperty('tools');
  });

  test('returns calls of tools, and sends their results', async () => {
    fake.script.push({ toolCalls: [{ name: 'lookup', arguments: { id: 1 } }], inputTokens: 12, outputTokens: 3 });
    const { content, toolCalls, message, inputTokens, outputTokens } = await chat({ tools: [tool] });
    expect(content).toBeNull();
    expect(toolCalls).toEqual([{ id: expect.any(String), name: 'lookup', arguments: '{"id":1}' }]);
    expect([inputTokens, outputTokens]).toEqual([12, 3]);
    const [call] = toolCalls;
    await chat({
      messages: [...CHAT.messages, message, { role: 'tool', toolCallId: call!.id, content: '{"found": true}' }],
    });
    expect(fake.calls[0]!.tools).toEqual([{ type: 'function', function: tool }]);
    expect(fake.calls[1]!.messages!.slice(1)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: call!.id, type: 'function', function: { name: 'lookup', arguments: '{"id":1}' } }],
      },
      { role: 'tool', tool_call_id: call!.id, content: '{"found": true}' },
    ]);
  });

  test('names the limit as models want it that refuse the older name', async () => {
    behave({ status: 400, message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." });
    await chat();
    expect(fake.calls[1]).toMatchObject({ max_completion_tokens: 50 });
    expect(fake.calls[1]).not.toHaveProperty('max_tokens');
  });

  test('is bounded', async () => {
    behave({ bytes: 4_100_000 });
    expect((await failed(chat()))[0]).toBe(500);
    fake.script.push({ toolCalls: Array.from({ length: 129 }, () => ({ name: 'lookup', arguments: {} })) });
    expect((await failed(chat()))[1]).toContain('not a list of at most 128');
  });

  test.each([undefined, null, -1, 1.5, '7', 1e12])('with %j tokens has an estimate', async (inputTokens) => {
    const usage = { prompt_tokens: inputTokens, completion_tokens: 1 };
    behave({ body: { choices: [{ message: { content: 'hello' } }], usage } });
    const { messages, tools } = CHAT;
    expect(await chat()).toMatchObject({
      content: 'hello',
      inputTokens: Math.ceil(JSON.stringify({ messages, tools }).length / 4),
      outputTokens: Math.ceil(JSON.stringify({ content: 'hello', role: 'assistant' }).length / 4),
      isEstimated: true,
    });
  });

  test.each([
    { choices: [] },
    { choices: [{ message: null }] },
    { choices: [{ message: { content: 5 } }] },
    { choices: [{ message: { tool_calls: {} } }] },
    { choices: [{ message: { tool_calls: [null] } }] },
    { choices: [{ message: { tool_calls: [{ id: 'a', function: { name: '', arguments: '{}' } }] } }] },
    { choices: [{ message: { tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'b', input: '' } }] } }] },
    { choices: [{ message: { content: 'x', deep: JSON.parse('['.repeat(300) + ']'.repeat(300)) } }] },
  ])('is refused when the response is malformed: %j', async (body) => {
    behave({ body: { ...body, usage: { prompt_tokens: 1, completion_tokens: 1 } } });
    expect(await failed(chat())).toEqual([500, expect.stringContaining('is malformed')]);
  });
});
