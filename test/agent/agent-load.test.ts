import { Writable } from 'node:stream';
import { describe, expect, test as base } from 'vitest';
import { startAiFake } from '../../tools/ai-fake.ts';
import type { AiFake } from '../../tools/ai-fake/fake-provider.ts';
import type { Client } from '../support/client.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { WRONG_TOTALS } from '../support/usage-fixture.ts';
import { callOf, createAgent, createTools, runAgent, test } from './agent-fixture.ts';

/** Sets the cap of the default profile. */
const setCap = (service: Service, cap: number) =>
  systemQuery(service, `update dws.usage_profile set credit_cap_per_month = $1 where slug = 'standard'`, cap);

test('concurrent runs never charge more than the cap', async ({ ann, ai, service }) => {
  const agent = await createAgent(ann);
  const quote = await ann.creates('/usage/quote', { action: 'agentRun', agentId: agent.id });
  await setCap(service, 5);
  ai.latencyMs = 30;
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => ann.post(`${agent.path}/_run`, {})));
  await setCap(service, 1000);
  const statuses = outcomes.map(({ status, body }) => (status === 200 ? body.status : body.code));
  const succeeded = statuses.filter((status) => status === 'succeeded').length;
  expect(succeeded).toBeGreaterThanOrEqual(Math.floor(5 / quote.credits));
  expect(statuses.filter((status) => status !== 'succeeded' && status !== 'CREDITS_SPENT')).toEqual([]);
  const [use] = await systemQuery<{ charged: number; stated: number }>(
    service,
    `select (select sum(credits)::float8 from dws.usage_event where entity_id = $1) as charged,
      (select sum(credits)::float8 from dws.agent_run where agent_id = $1) as stated`,
    agent.id,
  );
  expect(use!.charged).toBeLessThanOrEqual(5);
  expect(use!.stated).toBeCloseTo(use!.charged, 6);
  expect(ai.counts.chat).toBe(succeeded);
  expect(await systemQuery(service, 'select id from dws.credit_reservation')).toEqual([]);
  expect(await systemQuery(service, WRONG_TOTALS)).toEqual([]);
});

test('a run that is out of credits in the middle keeps what it has paid for', async ({ eve, ai, target, service }) => {
  const toolkitId = await createTools(eve, [{ name: 'ping', request: { url: target.url } }]);
  const agent = await createAgent(eve, { toolkitIds: [toolkitId] });
  ai.onCall = () => void setCap(service, 2);
  const reply = { ...callOf('ping'), inputTokens: 4000, outputTokens: 0 };
  const run = await runAgent(eve, agent, ai, [reply, reply, reply]);
  await setCap(service, 1000);
  expect(run.status).toBe('failed');
  expect(run.error).toMatch(/credits/);
  // The step of the call that was refused has no credits.
  const paid: number[] = run.steps.flatMap(({ credits }: { credits: number | null }) => credits ?? []);
  expect(run.steps).toHaveLength(paid.length + 1);
  expect(paid).toEqual(paid.map(() => expect.closeTo(0.2, 6)));
  expect(run.credits).toBeCloseTo(1 + paid.length * 0.2, 6);
  expect(run.credits).toBeLessThanOrEqual(2);
});

/** An operation that its user may cancel. */
interface Pending {
  client: Client;
  id: string;
}

describe('while a provider does not respond', () => {
  /** Starts operations without waiting for them. */
  const startMany = async (client: Client, count: number, path: string, body: object): Promise<Pending[]> => {
    const started = await Promise.all(
      Array.from({ length: count }, () => client.post(path, body, { prefer: 'respond-async' })),
    );
    return started.map((response) => ({ client, id: response.body.id }));
  };

  const cancelAll = async (ai: AiFake, pending: readonly Pending[]) => {
    for (const { client, id } of pending.toReversed()) await client.delete(`/progress/${id}`);
    await expect.poll(() => ai.openCalls).toBe(0);
  };
  const IMAGE = { prompt: 'A fox' };

  test('a user leaves places for runs of agents to colleagues, and a tenant to others', async ({
    ann,
    bob,
    eve,
    stranger,
    ai,
  }) => {
    const ofOthers = await startAiFake();
    await stranger.creates('/ai-providers', ofOthers.provider);
    ai.behaviors.push({ kind: 'chat', hangs: true, count: 100 });
    const pending: Pending[] = [];
    const startRuns = async (client: Client) => {
      pending.push(...(await startMany(client, 10, `${(await createAgent(client)).path}/_run`, {})));
    };

    await startRuns(ann);
    await expect.poll(() => ai.openCalls).toBe(8);
    await startRuns(bob);
    await expect.poll(() => ai.openCalls).toBe(16);
    await startRuns(eve);
    expect((await stranger.post(`${(await createAgent(stranger)).path}/_run`, {})).body.status).toBe('succeeded');
    expect([ai.openCalls, ofOthers.counts.chat]).toEqual([16, 1]);
    // Runs of agents take no places of images.
    expect((await eve.post('/_create-image', IMAGE)).status).toBe(200);
    await cancelAll(ai, pending);
    await ofOthers.close();
  });

  test('a user leaves places for images to colleagues', async ({ ann, bob, ai }) => {
    ai.behaviors.push({ kind: 'image', hangs: true, count: 2 });
    const pending = await startMany(ann, 5, '/_create-image', IMAGE);
    await expect.poll(() => ai.openCalls).toBe(2);
    expect((await bob.post('/_create-image', IMAGE)).status).toBe(200);
    expect(ai.openCalls).toBe(2);
    await cancelAll(ai, pending);
  });
});

base('no log has payloads, results, texts of models or secrets', async () => {
  let log = '';
  const stream = new Writable({
    write(part, _encoding, done) {
      log += String(part);
      done();
    },
  });
  const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1', LOG_LEVEL: 'trace' }, { log: stream });
  const ai = await startAiFake();
  try {
    const admin = await service.user('admin', { superuser: true });
    await admin.creates('/ai-providers', ai.provider);
    const toolkitId = await createTools(admin, [
      {
        name: 'echo',
        inputSchema: { type: 'object', properties: { v: { type: 'string' } } },
        request: { url: 'http://127.0.0.1:1/{{v}}', headers: { 'X-Key': 'secret-of-the-toolkit' } },
      },
    ]);
    const agent = await createAgent(admin, { toolkitIds: [toolkitId], instructions: 'secret-instructions' });
    const script = [
      callOf('echo', { v: 'secret-argument' }),
      callOf('none', 'secret-nonsense'),
      { content: 'secret-text' },
    ];
    const run = await runAgent(admin, agent, ai, script, 'secret-payload');
    expect(run.status).toBe('succeeded');
    ai.behaviors.push({ status: 400, message: 'No: {prompt} {key}' });
    await runAgent(admin, agent, ai, [], 'secret-payload');
    const lines = await systemQuery(
      service,
      `select metadata::text from dws.usage_event where entity_id = $1`,
      agent.id,
    );
    expect(lines.length).toBeGreaterThan(1);
    expect(log).toContain('agent.run');
    for (const text of [log, JSON.stringify(lines)]) expect(text).not.toMatch(/secret-/);
    expect(log).not.toContain(ai.apiKey);
  } finally {
    await ai.close();
    await service.close();
  }
});

test('the record of a run stays small when a model calls tools without end', async ({ ann, ai }) => {
  const agent = await createAgent(ann);
  const calls = Array.from({ length: 128 }, () => ({ name: 'n'.repeat(200), arguments: 'あ'.repeat(5000) }));
  const reply = { content: null, toolCalls: calls, inputTokens: 1, outputTokens: 1 };
  const { status, steps } = await runAgent(
    ann,
    agent,
    ai,
    Array.from({ length: 9 }, () => reply),
  );
  expect(status).toBe('succeeded');
  expect(steps).toHaveLength(10);
  expect(steps[0].toolCalls).toHaveLength(17);
  expect(steps[0].toolCalls[0].arguments).toMatch(/^あ{4095}…$/);
  expect(steps[0].toolCalls[16].error).toBe('At most 16 tools are called in one step');
  expect(steps[8].toolCalls[0].arguments).toMatch(/^あ{63}…$/);
  expect(Buffer.byteLength(JSON.stringify(steps))).toBeLessThan(250_000);
});
