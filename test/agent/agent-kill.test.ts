import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { startAiFake } from '../../tools/ai-fake.ts';
import type { AiFake } from '../../tools/ai-fake/fake-provider.ts';
import { test as base, type JobCluster } from '../job/job-cluster.ts';
import { createAgent, onEvents } from './agent-fixture.ts';

/** Several processes of the compiled service, whose workers tests kill, and a fake AI provider. */
const test = base.extend<{ ai: AiFake }>({
  ai: async ({ cluster }, use) => {
    const fake = await startAiFake();
    cluster.onEnd(() => fake.close());
    await cluster.caller.creates('/ai-providers', fake.provider);
    await use(fake);
  },
});

const LEFT = `
  select (select count(*)::int from dws.credit_reservation) as reservations,
    (select count(*)::int from dws.agent_run where finished_at is null) as open,
    (select coalesce(sum(credits), 0)::float8 from dws.usage_event) as charged,
    (select coalesce(sum(credits), 0)::float8 from dws.usage_day) as totals,
    (select coalesce(sum(credits), 0)::float8 from dws.agent_run) as credits`;

test('a run whose worker is killed fails, costs the reserved credits and is not repeated', async ({ cluster, ai }) => {
  const { caller, startWorker, sql } = cluster;
  const agent = await createAgent(caller);
  const { credits } = await caller.creates('/usage/quote', { action: 'agentRun', agentId: agent.id });
  const called = new Promise<void>((resolve) => {
    ai.onCall = () => resolve();
  });
  ai.behaviors.push({ hangs: true });
  const worker = await startWorker();
  const started = await caller.post(`${agent.path}/_run`, {}, { prefer: 'respond-async' });
  expect(started.status).toBe(202);
  await called;
  await worker.end('SIGKILL');
  await startWorker();
  const runs = async () => (await caller.get(`${agent.path}/runs`)).body._embedded['svc:agent-run'];
  await expect.poll(async () => (await runs())[0].status).toBe('failed');
  await expect.poll(async () => (await runs())[0].credits).toBe(credits);
  expect(await runs()).toMatchObject([
    { error: 'The worker process ended before the operation was done', output: null },
  ]);
  expect(ai.counts.chat).toBe(1);
  expect(await sql(LEFT)).toEqual([{ reservations: 0, open: 0, charged: credits, totals: credits, credits }]);
  expect(
    await sql(`select status, error->>'message' as error, 1 + credits::float8 as credits from dws.ai_call`),
  ).toEqual([
    {
      status: 'failed',
      error: 'The worker process ended before the call was done',
      credits: expect.closeTo(credits, 6),
    },
  ]);
});

const MIN_KILLS = 8;

/** Kills workers of two places at random moments, and starts others, until all events are stored and some workers died. */
async function killWorkers({ startWorker }: JobCluster, isStored: () => boolean): Promise<void> {
  let kills = 0;
  await Promise.all(
    [1, 2].map(async () => {
      while (!isStored() || kills < MIN_KILLS) {
        const worker = await startWorker();
        await sleep(300 + Math.random() * 1500);
        await worker.end('SIGKILL');
        kills += 1;
      }
    }),
  );
}

test('workers that are killed start each agent once for each event, and charge what runs state', async ({
  cluster,
  ai,
}) => {
  const { caller, startWorker, sql } = cluster;
  ai.latencyMs = 30;
  const { id: appId } = await caller.creates('/apps', { name: 'Emitter' });
  const agents = await Promise.all([1, 2, 3, 4].map(() => createAgent(caller, onEvents(appId, 'many'))));
  let inserted = 0;
  const kills = killWorkers(cluster, () => inserted >= 50);
  for (; inserted < 50; inserted += 5) {
    await sql(
      `insert into dws.app_event (id, tenant_id, app_id, name, payload, principal, depth)
      select gen_random_uuid(), tenant_id, id, 'many', '1', owner_id, 0 from dws.app, generate_series(1, 5) where dws.app.id = $1`,
      [appId],
    );
    await sleep(1500);
  }
  await kills;
  await startWorker();
  const waiting = `
    select (select count(*)::int from dws.app_event where dispatched_at is null) as events,
      (select count(*)::int from dws.agent_run where finished_at is null) as runs`;
  await expect.poll(() => sql(waiting), { timeout: 100_000, interval: 500 }).toEqual([{ events: 0, runs: 0 }]);
  const runs = await sql(
    `select count(*)::int as runs, count(distinct event_id)::int as events from dws.agent_run group by agent_id`,
  );
  expect(runs).toEqual(agents.map(() => ({ runs: 50, events: 50 })));
  await expect.poll(async () => (await sql(LEFT))[0]!['reservations']).toBe(0);
  const [left] = await sql(LEFT);
  expect(left).toMatchObject({ reservations: 0, open: 0 });
  expect(left!['charged']).toBeGreaterThan(0);
  expect(left!['totals']).toBeCloseTo(left!['charged'] as number, 6);
  expect(left!['credits']).toBeCloseTo(left!['charged'] as number, 6);
  const failed = await sql(
    `select distinct error, credits::float8 as credits from dws.agent_run where status = 'failed'`,
  );
  for (const { error } of failed) expect(error).toBe('The worker process ended before the operation was done');
}, 240_000);
