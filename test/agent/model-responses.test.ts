import { describe, expect } from 'vitest';
import type { ModeName } from '../../tools/ai-fake/modes.ts';
import { createApp } from '../app/app-fixture.ts';
import { callApi, servicesFor } from '../app/handler-services-fixture.ts';
import type { Client } from '../support/client.ts';
import { systemQuery } from '../support/system-query.ts';
import {
  createAgent,
  createTools,
  DONE,
  insertEvents,
  onEvents,
  resultsOf,
  runAgent,
  test,
  type TestAgent,
} from './agent-fixture.ts';

/* Responses of OpenAI-compatible services (tools/ai-fake/modes.ts), and their effects on the run. */

const HOST = 'The host "127.0.0.1"';
const INCOMPLETE = 'Step 1: the response is not complete:';
const ESTIMATED = 'The provider of the model states no tokens: they are estimated';
const noText = (reason: string) => ({ error: `${HOST} returned no text: ${reason}` });
/** The output of a run that called a tool and went on. */
const WENT_ON = { output: 'done' };

interface Outcome {
  /** Null for a run that fails. */
  output?: string;
  error?: string;
  notes?: string[];
  /** Arguments of the first call of a tool, as they are recorded and sent back. */
  sent?: string;
}

const OUTCOMES: Record<ModeName, Outcome> = {
  refusal: noText('the model refused: I cannot help with that'),
  'refusal in parts': noText('the model refused: I cannot help with that'),
  'refusal with text': {
    output: 'In part.',
    notes: [`${INCOMPLETE} the model refused: I cannot help with the rest`],
  },
  'content filter': noText('a content filter ended it'),
  'content filter with text': { output: 'In part.', notes: [`${INCOMPLETE} a content filter ended it`] },
  length: { output: 'It begins', notes: [`${INCOMPLETE} it was cut at the limit of 4096 tokens`] },
  'length without text': noText('it was cut at the limit of 4096 tokens'),
  'length in a call': {
    ...WENT_ON,
    notes: [`${INCOMPLETE} it was cut at the limit of 4096 tokens`],
    sent: '{"id": "1',
  },
  'no content': noText('the message is empty'),
  'blank content': noText('the message is empty'),
  'function call': noText('the model called a function in the old form function_call, which lacks an id'),
  interrupted: noText('the provider ended it early'),
  'error of a choice': noText('the provider ended it early: Upstream lost'),
  'error in a 200': { error: `${HOST} responded with an error: Upstream rate limit` },
  'no usage': { output: 'Done', notes: [ESTIMATED] },
  'null usage': { output: 'Done', notes: [ESTIMATED] },
  'empty id': WENT_ON,
  'no id': WENT_ON,
  'null id': WENT_ON,
  'null arguments': { ...WENT_ON, sent: '{}' },
  'blank arguments': { ...WENT_ON, sent: '{}' },
  'object as arguments': { ...WENT_ON, sent: '{"id":"7"}' },
  'content in parts': { output: 'Done' },
  'signed call': WENT_ON,
  reasoning: WENT_ON,
  'empty reasoning': WENT_ON,
  'unknown keys': WENT_ON,
  'rate limit': WENT_ON,
  'overloaded, as HTML': WENT_ON,
  'bad gateway': WENT_ON,
  overloaded: WENT_ON,
};

const FIELDS = 'status output error notes steps { text error inputTokens outputTokens toolCalls { arguments error } }';
const byRest = async (client: Client, { path }: TestAgent) => (await client.post(`${path}/_run`, {})).body;
const byGraphql = async (client: Client, { id }: TestAgent) => {
  const run = (await client.data(`mutation { runAgent(id: "${id}") { result { ${FIELDS} } } }`)).runAgent.result;
  return { ...run, status: run.status.toLowerCase() };
};

describe('the response of a model', () => {
  test.for(Object.entries(OUTCOMES) as [ModeName, Outcome][])(
    'with %s',
    async ([mode, { output = null, error = null, notes = [], sent }], { eve, ai, target, service }) => {
      const toolkitId = await createTools(eve, [
        { name: 'ping', inputSchema: { type: 'object', properties: { id: {} } }, request: { url: target.url } },
      ]);
      const agent = await createAgent(eve, { toolkitIds: [toolkitId] });
      for (const run of [byRest, byGraphql]) {
        ai.reset();
        ai.enter(mode);
        ai.script.push(DONE);
        const record = await run(eve, agent);
        expect(record).toMatchObject({ status: error === null ? 'succeeded' : 'failed', output, error, notes });
        if (sent !== undefined) {
          expect(record.steps[0].toolCalls[0].arguments).toBe(sent);
          expect(ai.calls.at(-1)!.messages!.at(-2)!.tool_calls![0]!.function.arguments).toBe(sent);
        }
        if (error !== null) expect(record.steps).toMatchObject([{ error, text: null, toolCalls: [] }]);
      }
      expect(await systemQuery(service, 'select id from dws.credit_reservation')).toEqual([]);
    },
  );
});

describe('a refusal', () => {
  const error = OUTCOMES.refusal.error!;

  test('in a later step fails the run, with the steps before it', async ({ eve, ai, target, service }) => {
    const toolkitId = await createTools(eve, [{ name: 'ping', request: { url: target.url } }]);
    const agent = await createAgent(eve, { toolkitIds: [toolkitId] });
    ai.enter('length in a call');
    ai.enter('refusal');
    const run = await runAgent(eve, agent, ai, []);
    expect(run).toMatchObject({ status: 'failed', error, output: null, notes: OUTCOMES['length in a call'].notes });
    expect(run.steps.map((step: { error: unknown }) => step.error)).toEqual([null, error]);
    const calls = `select status, credits is not null as charged from dws.ai_call where entity_id = $1 order by id`;
    expect(await systemQuery(service, calls, agent.id)).toEqual([
      { status: 'succeeded', charged: true },
      { status: 'failed', charged: true },
    ]);
  });

  test('fails a run on an event', async ({ admin, ann, ai, service }) => {
    const appId = await createApp(admin, 'Emitter');
    await admin.put(`/apps/${appId}/shares/ann`, { accessLevel: 1 });
    const agent = await createAgent(ann, onEvents(appId, 'order'));
    ai.enter('refusal');
    await insertEvents(service, appId, 'order');
    const runs = async () => (await ann.get(`${agent.path}/runs`)).body._embedded['svc:agent-run'];
    await expect.poll(runs).toMatchObject([{ trigger: 'event', status: 'failed', error, output: null }]);
  });

  test('fails a run that a handler of an app starts', async ({ admin, ann, ai, service }) => {
    const services = await servicesFor(service, ann, await createApp(admin, 'Starter'));
    const agent = await createAgent(ann);
    ai.enter('refusal');
    expect(await callApi(services, 'POST', `/api${agent.path}/_run`, {})).toMatchObject({
      status: 200,
      body: { status: 'failed', error, output: null },
    });
  });
});

describe('what a call of the model costs', () => {
  /** Runs an agent once. Returns the credits of its call, without the credits of the run. */
  const costOf = async (client: Client, agent: TestAgent): Promise<number | null> => {
    const { steps } = await byRest(client, agent);
    return steps[0].credits;
  };

  test.for<[string, object, number]>([
    ['a refusal', { keys: { refusal: 'No' } }, 0.2],
    ['a filtered response', { finishReason: 'content_filter' }, 0.2],
    ['an empty response', {}, 0.2],
    ['a cut response', { content: 'It', finishReason: 'length' }, 0.2],
  ])('%s: the tokens that the provider states', async ([, reply, expected], { ann, ai }) => {
    ai.script.push({ ...reply, inputTokens: 4000, outputTokens: 0 });
    expect(await costOf(ann, await createAgent(ann))).toBeCloseTo(expected, 6);
  });

  test('without tokens: an estimate, which the step states and which is below what is reserved', async ({
    ann,
    ai,
  }) => {
    const agent = await createAgent(ann);
    const { credits: reserved } = await ann.creates('/usage/quote', { action: 'agentRun', agentId: agent.id });
    ai.script.push({ content: 'x'.repeat(4000), omits: ['usage'] });
    const { steps, credits } = await byRest(ann, agent);
    const [{ inputTokens, outputTokens }] = steps;
    const { messages } = ai.calls[0]!;
    expect(inputTokens).toBe(Math.ceil(Buffer.byteLength(JSON.stringify({ messages, tools: [] })) / 4));
    expect(outputTokens).toBeGreaterThanOrEqual(1000);
    expect(outputTokens).toBeLessThan(1020);
    expect(credits).toBeCloseTo(1 + (inputTokens * 0.5 + outputTokens * 1.5) / 10_000, 6);
    expect(credits).toBeLessThan(reserved);
  });

  test('an error in a 200: nothing, unless it states tokens', async ({ ann, ai }) => {
    const agent = await createAgent(ann);
    ai.enter('error in a 200');
    expect(await costOf(ann, agent)).toBeNull();
    const usage = { prompt_tokens: 4000, completion_tokens: 0 };
    ai.behaviors.push({ body: { error: { message: 'Lost' }, choices: [], usage } });
    expect(await costOf(ann, agent)).toBeCloseTo(0.2, 6);
  });

  test('a try that the provider had no time for: nothing', async ({ ann, ai, service }) => {
    const agent = await createAgent(ann);
    ai.enter('rate limit');
    ai.script.push({ content: 'late', inputTokens: 4000, outputTokens: 0 });
    expect(await runAgent(ann, agent, ai, [])).toMatchObject({ output: 'late', credits: 1.2 });
    const calls = await systemQuery(service, 'select status from dws.ai_call where entity_id = $1', agent.id);
    expect(calls).toEqual([{ status: 'succeeded' }]);
  });

  test('at a provider of the owner: nothing, also without tokens', async ({ ann, ai }) => {
    const agent = await createAgent(ann);
    const own = await ann.creates('/ai-providers', { ...ai.provider, name: 'Own', own: true });
    ai.enter('no usage');
    expect(await runAgent(ann, agent, ai, [])).toMatchObject({ output: 'Done', credits: 0, notes: [ESTIMATED] });
    await ann.delete(`/ai-providers/${own.id}`);
  });
});

describe('the messages of a model', () => {
  test('go back as they came, in all later requests', async ({ ann, ai }) => {
    const agent = await createAgent(ann);
    for (const mode of ['signed call', 'reasoning', 'unknown keys'] as const) ai.enter(mode);
    const replies = structuredClone(ai.script);
    expect(await runAgent(ann, agent, ai, [DONE])).toMatchObject({ status: 'succeeded', output: 'done' });
    const sent = ai.calls.at(-1)!.messages!.filter(({ role }) => role === 'assistant');
    expect(sent).toMatchObject(
      replies.map(({ keys = {}, toolCalls }) => ({
        role: 'assistant',
        content: null,
        ...keys,
        tool_calls: toolCalls!.map((call) => ({ function: { name: 'ping', arguments: '{}' }, ...call.keys })),
      })),
    );
    expect(resultsOf(ai)).toHaveLength(4);
  });

  test('go back without keys that the provider refuses', async ({ ann, ai }) => {
    const agent = await createAgent(ann);
    ai.refusedKeys.push('reasoning');
    ai.script.push({ toolCalls: [{ name: 'ping', arguments: {} }], keys: { reasoning: null } });
    expect(await runAgent(ann, agent, ai, [DONE])).toMatchObject({ status: 'succeeded', output: 'done' });
    expect(ai.counts.chat).toBe(3);
  });

  test('of more than 512 KB besides text and calls fail the run', async ({ ann, ai }) => {
    const agent = await createAgent(ann);
    const reasoning = (length: number) => ({ ...DONE, keys: { reasoning_content: 'r'.repeat(length) } });
    expect(await runAgent(ann, agent, ai, [reasoning(500_000)])).toMatchObject({ output: 'done' });
    expect(await runAgent(ann, agent, ai, [reasoning(600_000)])).toMatchObject({
      output: null,
      error: expect.stringMatching(
        /malformed: its message has more than 524288 bytes besides text and calls of tools$/,
      ),
    });
  });

  test('are quoted by no error', async ({ ann, ai }) => {
    const agent = await createAgent(ann);
    const texts = ['signature-of-the-call', 'reasoning-of-the-model'];
    const [signature, reasoning] = texts;
    const call = { name: 'ping', arguments: {}, keys: { extra_content: { google: { thought_signature: signature } } } };
    ai.onCall = () => {
      if (ai.counts.chat === 2) ai.behaviors.push({ status: 400, message: `Wrong: ${texts.join(' and ')}, {key}` });
    };
    const { error } = await runAgent(ann, agent, ai, [{ toolCalls: [call], keys: { reasoning_content: reasoning } }]);
    expect(error).toBe(`${HOST} responded with 400: Wrong: … and …, …`);
  });
});

describe('a provider without time', () => {
  test('is tried five times', async ({ ann, ai }) => {
    const agent = await createAgent(ann);
    const busy = { status: 429, headers: { 'retry-after': '0' }, message: 'Slow down, {key}' };
    ai.behaviors.push({ ...busy, count: 4 });
    expect(await runAgent(ann, agent, ai, [DONE])).toMatchObject({ output: 'done' });
    expect(ai.counts.chat).toBe(5);
    ai.behaviors.push({ ...busy, count: 5 });
    expect(await runAgent(ann, agent, ai, [DONE])).toMatchObject({
      status: 'failed',
      error: `${HOST} responded with 429: Slow down, …`,
      credits: 0,
    });
    expect(ai.counts.chat).toBe(10);
  });

  test('that asks to wait for more than five minutes is not tried again', async ({ ann, ai }) => {
    ai.behaviors.push({ status: 503, headers: { 'retry-after': '301' } });
    expect(await runAgent(ann, await createAgent(ann), ai, [])).toMatchObject({ status: 'failed' });
    expect(ai.counts.chat).toBe(1);
  });

  test('does not delay the cancellation of a run', async ({ ann, ai, service }) => {
    const agent = await createAgent(ann);
    ai.behaviors.push({ status: 429, headers: { 'retry-after': '299' } });
    const { body } = await ann.post(`${agent.path}/_run`, {}, { prefer: 'respond-async' });
    await expect.poll(() => ai.counts.chat).toBe(1);
    await ann.delete(`/progress/${body.id}`);
    await expect.poll(async () => (await ann.get(`/progress/${body.id}`)).body.status).toBe('cancelled');
    const calls = `select status, credits from dws.ai_call where entity_id = $1`;
    await expect.poll(() => systemQuery(service, calls, agent.id)).toEqual([{ status: 'cancelled', credits: null }]);
  });
});
