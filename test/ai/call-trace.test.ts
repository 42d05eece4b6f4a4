import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openAiClient } from '../../src/adapters/ai/ai-client.ts';
import { createGuardedFetch } from '../../src/adapters/outbound/guarded-fetch.ts';
import { newCallTrace, type AiCallTrace, type AiClient } from '../../src/core/ai.ts';
import { creditsSpent } from '../../src/core/errors.ts';
import type { OutboundClient } from '../../src/core/outbound.ts';
import { startAiFake } from '../../tools/ai-fake.ts';
import type { AiFake, FakeBehavior } from '../../tools/ai-fake/fake-provider.ts';

/* The client's record of a failed call: whether the provider has received it, refused it, or stated its tokens. */

const CHAT = { model: 'fake-chat', messages: [{ role: 'user' as const, content: 'x' }], tools: [], maxTokens: 10 };
const TOKENS = { inputTokens: 7, outputTokens: 3 };
const usage = { prompt_tokens: 7, completion_tokens: 3 };

let fake: AiFake;
let outbound: OutboundClient;
let client: AiClient;

beforeAll(async () => {
  fake = await startAiFake();
  outbound = createGuardedFetch({ allowed: ['127.0.0.1'] });
  client = openAiClient({ outbound });
});
beforeEach(() => fake.reset());
afterAll(() => Promise.all([outbound.close(), fake.close()]));

/** Calls the model. Returns the trace of the call, however it ended. */
async function traceOf(baseUrl: string, signal = new AbortController().signal): Promise<AiCallTrace> {
  const trace = newCallTrace();
  await client.chat({ baseUrl, apiKey: fake.apiKey }, CHAT, signal, trace).catch(() => undefined);
  return trace;
}

const traceAfter = (...behaviors: FakeBehavior[]): Promise<AiCallTrace> => {
  fake.behaviors.push(...behaviors);
  return traceOf(fake.provider.baseUrl);
};

describe('a call', () => {
  test('that succeeds was sent, with its tokens', async () => {
    fake.script.push({ content: 'hello', ...TOKENS });
    expect(await traceAfter()).toEqual({ state: 'sent', tokens: TOKENS });
  });

  test.each([
    ['of a host that does not exist', 'https://no-such-host.invalid/v1'],
    ['of a port without a server', 'http://127.0.0.1:59998/v1'],
    ['of an address that is not allowed', 'http://169.254.169.254/v1'],
    ['of no URL', 'nowhere'],
  ])('%s is not sent', async (_, baseUrl) => {
    expect(await traceOf(baseUrl)).toEqual({ state: 'unsent', tokens: null });
    expect(fake.calls).toEqual([]);
  });

  test('that is cancelled before it begins is not sent', async () => {
    const controller = new AbortController();
    controller.abort(new Error('cancelled'));
    expect(await traceOf(fake.provider.baseUrl, controller.signal)).toEqual({ state: 'unsent', tokens: null });
    expect(fake.calls).toEqual([]);
  });

  test('that is cancelled when the provider has it was sent', async () => {
    const controller = new AbortController();
    fake.behaviors.push({ hangs: true });
    fake.onCall = () => controller.abort(new Error('cancelled'));
    expect(await traceOf(fake.provider.baseUrl, controller.signal)).toEqual({ state: 'sent', tokens: null });
  });

  test.each([302, 400, 401, 404, 429, 500, 502, 503, 504])('that gets %d is refused', async (status) => {
    expect(await traceAfter({ status, headers: { 'retry-after': '301' } })).toEqual({ state: 'refused', tokens: null });
    expect(fake.calls.length).toBe(1);
  });

  test('that gets an error without tokens in a 200 is refused', async () => {
    expect(await traceAfter({ body: { error: { message: 'Busy' } } })).toEqual({ state: 'refused', tokens: null });
  });

  test('that is tried again counts as the last one ended', async () => {
    const busy = () => ({ status: 429, headers: { 'retry-after': '0' } });
    expect(await traceAfter(busy())).toMatchObject({ state: 'sent' });
    expect(await traceAfter(busy(), { isCut: true })).toEqual({ state: 'sent', tokens: null });
    expect(await traceAfter(busy(), { status: 400 })).toEqual({ state: 'refused', tokens: null });
  });

  test('is sent again under the newer name of its limit, and counts as the last one ended', async () => {
    const refusal = () => ({ status: 400, message: 'Use max_completion_tokens' });
    expect(await traceAfter(refusal())).toMatchObject({ state: 'sent' });
    expect(await traceAfter(refusal(), { status: 500 })).toMatchObject({ state: 'refused' });
    expect(await traceAfter(refusal(), { isCut: true })).toMatchObject({ state: 'sent' });
  });

  test.each<[string, FakeBehavior, AiCallTrace['tokens']]>([
    ['whose connection is lost', { isCut: true }, null],
    ['whose response breaks off', { isCut: 'within' }, null],
    ['whose response is too large', { bytes: 4_100_000 }, null],
    ['whose response is not JSON', { body: '<html>' }, null],
    [
      'whose response states no tokens',
      { body: { choices: [{ message: { content: 'x' } }] } },
      { inputTokens: 14, outputTokens: 9 },
    ],
    ['whose model refused, without tokens', { body: { choices: [{ message: { refusal: 'No' } }] } }, null],
    ['whose model refused', { body: { choices: [{ message: { refusal: 'No' } }], usage } }, TOKENS],
    ['with an error and tokens', { body: { error: 'Lost', usage } }, TOKENS],
    ['whose tokens are half stated', { body: { choices: [], usage: { prompt_tokens: 7 } } }, null],
    ['without a message', { body: { choices: [], usage } }, TOKENS],
    [
      'with calls of tools that are malformed',
      { body: { choices: [{ message: { tool_calls: [1] } }], usage } },
      TOKENS,
    ],
  ])('%s was sent', async (_, behavior, tokens) => {
    expect(await traceAfter(behavior)).toEqual({ state: 'sent', tokens });
  });
});

describe('what is recorded before a call is sent', () => {
  /** Calls the model. Returns its trace, its error, and how often it was recorded before the provider had it. */
  async function callRecorded(
    record: () => Promise<void> = async () => {},
    { baseUrl = fake.provider.baseUrl, signal = new AbortController().signal } = {},
  ) {
    const trace = newCallTrace();
    let recorded = 0;
    const beforeSend = async () => {
      expect(fake.calls).toEqual([]);
      recorded += 1;
      await record();
    };
    const error = await client.chat({ baseUrl, apiKey: fake.apiKey }, CHAT, signal, trace, beforeSend).then(
      () => null,
      (reason: unknown) => reason,
    );
    return { state: trace.state, recorded, error, calls: fake.calls.length };
  }

  test('is recorded once there is a connection, before the first byte', async () => {
    const wait = () => new Promise<void>((resolve) => setTimeout(resolve, 20));
    expect(await callRecorded(wait)).toEqual({ state: 'sent', recorded: 1, error: null, calls: 1 });
    fake.reset();
    const unreachable = { baseUrl: 'http://127.0.0.1:59998/v1' };
    expect(await callRecorded(wait, unreachable)).toMatchObject({ state: 'unsent', recorded: 0, calls: 0 });
  });

  test('is recorded once for a call that is repeated in another form', async () => {
    fake.behaviors.push({ status: 400, message: 'Use max_completion_tokens' });
    expect(await callRecorded()).toEqual({ state: 'sent', recorded: 1, error: null, calls: 2 });
  });

  test.each([creditsSpent('Too few credits'), new Error('a bug')])(
    'sends nothing if it fails, with the error %s',
    async (failure) => {
      expect(await callRecorded(() => Promise.reject(failure))).toEqual({
        state: 'unsent',
        recorded: 1,
        error: failure,
        calls: 0,
      });
      expect(await callRecorded()).toMatchObject({ state: 'sent', error: null });
    },
  );

  test('sends nothing if the call is cancelled during it, and ends before the call', async () => {
    const controller = new AbortController();
    const cancelled = new Error('cancelled');
    let hasEnded = false;
    const record = async () => {
      controller.abort(cancelled);
      await new Promise((resolve) => setTimeout(resolve, 20));
      hasEnded = true;
    };
    const outcome = await callRecorded(record, { signal: controller.signal });
    expect(outcome).toEqual({ state: 'unsent', recorded: 1, error: cancelled, calls: 0 });
    expect(hasEnded).toBe(true);
  });
});
