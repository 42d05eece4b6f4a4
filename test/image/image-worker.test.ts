import pg from 'pg';
import { describe, expect } from 'vitest';
import { WORKER_DIED } from '../../src/operations/handler.ts';
import { createHandlers } from '../../src/operations/handlers.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { releaseCredits } from '../../src/services/usage/credit-reservation.ts';
import { startAiFake } from '../../tools/ai-fake.ts';
import type { AiFake, FakeBehavior } from '../../tools/ai-fake/fake-provider.ts';
import { eventually, rows, test as base, until } from '../operation/fixture.ts';
import { loseEnds } from '../support/failing-end.ts';
import { runSql } from '../support/run-sql.ts';
import { WRONG_TOTALS } from '../support/usage-fixture.ts';
import { WAITING_FOR_LOCKS } from '../support/waiting-locks.ts';
import { createCallers, readState, request, setCap, statusesOf, untilIdle } from './image-world.ts';

const test = base.extend<{ fake: AiFake }>({
  fake: async ({}, use) => {
    const fake = await startAiFake();
    await use(fake);
    await fake.close();
  },
});

describe('an image whose worker dies', () => {
  test('is recorded failed, is not requested again and costs its price, as the provider may have created it', async ({
    world,
    fake,
  }) => {
    const [ann] = await createCallers(world, fake, 1);
    const worker = await world.startWorkerProcess('real');
    fake.behaviors.push({ hangs: true });
    const id = await request(ann!);
    await eventually(async () => fake.calls.length === 1);
    expect((await readState(world)).reservations).toHaveLength(1);
    await worker.kill('SIGKILL');
    await world.startWorker(createHandlers(world.loaders));
    expect((await until(ann!, id, 'failed')).error).toEqual(WORKER_DIED);
    const { operations: records, reservations, calls, lines, images } = await readState(world);
    expect([reservations, images]).toEqual([[], []]);
    expect(lines).toMatchObject([{ key: `ai:${records[0]!['callId']}`, credits: '4.000000' }]);
    expect(calls).toMatchObject([{ status: 'failed', credits: '4.000000', error: WORKER_DIED }]);
    expect(fake.calls.length).toBe(1);
  });

  test('is recorded failed by a worker that stops', async ({ world, fake }) => {
    const [ann] = await createCallers(world, fake, 1);
    const worker = await world.startWorkerProcess('real');
    fake.behaviors.push({ hangs: true });
    const id = await request(ann!);
    await eventually(async () => fake.calls.length === 1);
    await worker.kill('SIGTERM');
    expect((await until(ann!, id, 'failed')).error).toEqual(WORKER_DIED);
    const { reservations, lines } = await readState(world);
    expect(reservations).toEqual([]);
    expect(lines).toMatchObject([{ credits: '4.000000' }]);
  });
});

test('a request for an image locks the credits last, as a run of an agent does', async ({ world, fake }) => {
  const [ann] = await createCallers(world, fake, 1);
  const { tenantId, userId } = ann!.viewer;
  const gate = new pg.Client({ connectionString: world.url });
  await gate.connect();
  await gate.query(`select pg_advisory_lock(hashtextextended('dws.operations_of:' || $1, 0))`, [userId]);
  const requested = request({ ...ann!, viewer: { ...ann!.viewer, authMethod: 'session' } });
  try {
    await expect.poll(() => runSql(world.url, WAITING_FOR_LOCKS)).toHaveLength(1);
    expect(
      await runSql(world.url, 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free', [
        `credits:${tenantId}:${userId}`,
      ]),
    ).toEqual([{ free: true }]);
  } finally {
    await gate.end();
  }
  await requested;
  expect((await readState(world)).reservations).toHaveLength(1);
});

describe('a cancelled image', () => {
  test('ends the call of the provider and costs its price', async ({ world, fake }) => {
    const [ann] = await createCallers(world, fake, 1);
    await world.startWorker(createHandlers(world.loaders));
    fake.behaviors.push({ hangs: true });
    const id = await request(ann!);
    await eventually(async () => fake.calls.length === 1);
    expect(fake.openCalls).toBe(1);
    await operations.cancel(ann!, id);
    await until(ann!, id, 'cancelled');
    await eventually(async () => fake.openCalls === 0);
    const { reservations, calls, lines, images } = await readState(world);
    expect([reservations, images]).toEqual([[], []]);
    expect(lines).toMatchObject([{ key: `ai:${calls[0]!['id']}`, credits: '4.000000' }]);
    expect(calls).toMatchObject([{ status: 'cancelled', credits: '4.000000' }]);
  });

  test('that waits in the queue releases its credits, and calls nothing', async ({ world, fake }) => {
    const [ann] = await createCallers(world, fake, 1);
    const id = await request(ann!);
    expect((await readState(world)).reservations).toHaveLength(1);
    await operations.cancel(ann!, id);
    const { operations: records, reservations, calls } = await readState(world);
    expect([statusesOf(records), reservations, calls]).toEqual([{ cancelled: 1 }, [], []]);
    expect(fake.calls).toEqual([]);
  });
});

describe('an image that waited in the queue', () => {
  test('is refused when its reservation has expired and its credits are used', async ({ world, fake }) => {
    const [ann] = await createCallers(world, fake, 1);
    await setCap(world, ann!, 7);
    const id = await request(ann!);
    const [{ callId }] = (await readState(world)).operations as [{ callId: string }];
    await ann!.transaction(async (tx) => releaseCredits(tx, ann!.viewer, callId));
    const second = await request(ann!);
    await world.startWorker(createHandlers(world.loaders));
    const [record] = await Promise.all([until(ann!, id, 'failed'), until(ann!, second, 'succeeded')]);
    expect(record.error).toMatchObject({ statusCode: 402, code: 'CREDITS_SPENT' });
    expect(fake.calls.length).toBe(1);
  });

  test('fails if its provider was changed since the request', async ({ world, fake }) => {
    const [ann] = await createCallers(world, fake, 1);
    const id = await request(ann!);
    await rows(world, `update dws.ai_provider set enabled = false`);
    await world.startWorker(createHandlers(world.loaders));
    expect((await until(ann!, id, 'failed')).error).toMatchObject({ statusCode: 409, code: 'CONFLICT' });
    expect((await readState(world)).reservations).toEqual([]);
    expect(fake.calls).toEqual([]);
  });
});

describe('an image whose end cannot be recorded, because the database is lost', () => {
  test.for<[string, FakeBehavior | null, string | null]>([
    ['that was not sent, as its provider does not respond, costs nothing', null, null],
    ['that the provider has refused costs nothing', { status: 400 }, null],
    ['that was sent costs its price', { isCut: true }, '4.000000'],
    ['that was created costs its price', {}, '4.000000'],
  ])('%s', async ([, behavior, credits], { world, fake }) => {
    const [ann] = await createCallers(world, fake, 1);
    if (behavior === null) await rows(world, `update dws.ai_provider set base_url = 'http://127.0.0.1:59998/v1'`);
    else fake.behaviors.push(behavior);
    const lost = loseEnds(world.platform, 1);
    await world.startWorker(createHandlers(world.loaders));
    await until(ann!, await request(ann!), 'failed');
    const { reservations, calls, lines, images } = await readState(world);
    expect([lost.count, reservations, images]).toEqual([1, [], []]);
    expect(calls).toMatchObject([{ status: 'failed', credits }]);
    expect(lines.map((line) => line['credits'])).toEqual(credits === null ? [] : [credits]);
  });
});

test(
  '200 images by 20 users at random caps, with a worker killed on the way, cost what the lines say, and no user past the cap',
  { timeout: 300_000 },
  async ({ world, fake }) => {
    const callers = await createCallers(world, fake, 20);
    const caps = new Map(callers.map(({ viewer }) => [viewer.userId, Math.floor(Math.random() * 35)]));
    for (const caller of callers) await setCap(world, caller, caps.get(caller.viewer.userId)!);
    fake.latencyMs = 20;
    const [doomed] = await Promise.all([world.startWorkerProcess('real'), world.startWorkerProcess('real')]);
    let refused = 0;
    const ask = async (index: number) => {
      const caller = callers[index % callers.length]!;
      // Some images of the provider are errors.
      if (Math.random() < 0.1) fake.behaviors.push({ status: 500, kind: 'image' });
      const model = Math.random() < 0.5 ? { model: 'fake-image', size: '64x64' } : { model: 'fake-image-small' };
      await request(caller, model).catch((error: { code: string }) => {
        expect(error.code).toBe('CREDITS_SPENT');
        refused += 1;
      });
    };
    const asked = Promise.all(Array.from({ length: 200 }, (_, index) => ask(index)));
    await eventually(async () => (await readState(world)).images.length >= 10);
    await doomed!.kill('SIGKILL');
    await asked;
    await untilIdle(world);

    const { operations: records, reservations, calls, lines, images } = await readState(world);
    const succeeded = records.filter(({ status }) => status === 'succeeded');
    expect(records.length + refused).toBe(200);
    expect(reservations).toEqual([]);
    // Those whose worker died were sent, and cost the same.
    const charged = calls.filter(({ credits }) => credits !== null);
    const died = charged.filter(({ status }) => status !== 'succeeded');
    for (const { error } of died) expect(error).toEqual(WORKER_DIED);
    const price = new Map(records.map(({ callId, credits }) => [callId, Number(credits)]));
    expect(lines.map(({ key, credits }) => [key, Number(credits)]).toSorted()).toEqual(
      [...succeeded.map(({ callId }) => callId), ...died.map(({ id }) => id)]
        .map((id) => [`ai:${id}`, price.get(id)])
        .toSorted(),
    );
    expect(new Set(images.map(({ id }) => id))).toEqual(new Set(succeeded.map(({ imageId }) => imageId)));
    expect(charged.length).toBe(lines.length);
    for (const [userId, cap] of caps) {
      const used = lines
        .filter(({ actor }) => actor === `user:${userId}`)
        .reduce((sum, { credits }) => sum + Number(credits), 0);
      expect(used, `of the cap ${cap}`).toBeLessThanOrEqual(cap);
    }
    expect(await rows(world, WRONG_TOTALS)).toEqual([]);
    console.log(
      `died: ${died.length}, refused: ${refused}, operations: ${JSON.stringify(statusesOf(records))}, calls: ${fake.calls.length}`,
    );
  },
);
