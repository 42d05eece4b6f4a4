import { describe, expect } from 'vitest';
import type { TenantLimits } from '../../src/adapters/queue/dispatcher.ts';
import { newId } from '../../src/core/id.ts';
import type { OperationName, QueuedWork } from '../../src/core/operations.ts';
import { queueLimitsOf } from '../../src/operations/queue-limits.ts';
import { runSql } from '../support/run-sql.ts';
import { eventually, test as base, type World } from './fixture.ts';

/** The work of a queue, which the test ends. */
interface Work {
  /** Queues work of a user. Returns its ids. */
  send(user: Pick<QueuedWork, 'tenantId' | 'userId'>, count: number): Promise<string[]>;
  /** Ids of the work that has started, in that order. */
  started: string[];
  /** Ends the work that runs. */
  endAll(): void;
}

/** Runs a queue by the limits of a worker, or others. */
async function consume({ queue, platform }: World, operation: OperationName, limits?: TenantLimits): Promise<Work> {
  const started: string[] = [];
  let ends: (() => void)[] = [];
  const usual = queueLimitsOf(8);
  const all = limits ? { ...usual, operations: limits } : usual;
  await queue.consume(async ({ workId }) => {
    started.push(workId);
    await new Promise<void>((resolve) => {
      ends.push(resolve);
    });
  }, all);
  return {
    started,
    endAll() {
      for (const end of ends) end();
      ends = [];
    },
    async send({ tenantId, userId }, count) {
      const ids = Array.from({ length: count }, newId);
      const work = ids.map((workId) => ({ workId, tenantId, userId, operation }));
      await platform.database.transaction(tenantId, (tx) => queue.send(work, tx));
      return ids;
    },
  };
}

const test = base.extend<{ users: { tenantId: string; userId: string }[] }>({
  users: async ({ world }, use) => {
    const { tenantId } = (await world.caller()).viewer;
    await use(Array.from({ length: 3 }, () => ({ tenantId, userId: newId() })));
  },
});

/** The first operation of each queue. */
const QUEUES = {
  operations: 'dataset.refresh',
  jobs: 'job.run',
  renderings: 'template.render',
  syncs: 'library.sync',
  images: 'image.create',
  agents: 'agent.run',
} as const satisfies Record<keyof ReturnType<typeof queueLimitsOf>, OperationName>;

describe('a user gets at most half of the places of a tenant in the queue of', () => {
  test.for(Object.entries(QUEUES))('%s', async ([key, operation], { world, users: [ann, bob] }) => {
    const { perTenant } = queueLimitsOf(8)[key as keyof typeof QUEUES];
    const perUser = perTenant / 2;
    const { send, started, endAll } = await consume(world, operation);
    const ofAnn = await send(ann!, perTenant + 1);
    await expect.poll(() => started.length).toBe(perUser);
    const ofBob = await send(bob!, 1);
    await expect.poll(() => started).toContain(ofBob[0]);
    expect(started.filter((id) => ofAnn.includes(id))).toEqual(ofAnn.slice(0, perUser));
    expect(started).toHaveLength(perUser + 1);
    await eventually(async () => {
      endAll();
      return started.length === perTenant + 2;
    });
  });
});

test('the limit holds for entries of a former version, whose group is the tenant', async ({
  world,
  users: [ann, bob],
}) => {
  const { send, started, endAll } = await consume(world, 'library.sync');
  const first = await send(ann!, 1);
  await expect.poll(() => started).toEqual(first);
  world.queue.stopConsuming();
  endAll();
  const ofAnn = await send(ann!, 2);
  const ofBob = await send(bob!, 1);
  await runSql(world.url, `update dws_jobs.job_common set group_id = data->>'tenantId' where state < 'active'`);
  const again = await consume(world, 'library.sync');
  await expect.poll(() => again.started.toSorted()).toEqual([ofAnn[0]!, ofBob[0]!].toSorted());
  again.endAll();
  await expect.poll(() => again.started).toContain(ofAnn[1]);
  again.endAll();
});

test('a free place goes to who holds the fewest, then to who had no turn for longest', async ({ world, users }) => {
  const [ann, bob, cat] = users;
  const { send, started, endAll } = await consume(world, 'dataset.refresh', { concurrency: 1, perTenant: 1 });
  const ofAnn = await send(ann!, 1);
  await expect.poll(() => started).toEqual(ofAnn);
  const more = await send(ann!, 2);
  const ofBob = await send(bob!, 2);
  const ofCat = await send(cat!, 1);
  const order = [...ofAnn, ofBob[0], ofCat[0], more[0], ofBob[1], more[1]];
  for (let count = 1; count <= order.length; count++) {
    await expect.poll(() => started).toEqual(order.slice(0, count));
    endAll();
  }
});

test('a tenant with more users does not get more places than another', async ({ world, users }) => {
  const { tenantId } = (await world.caller(newId())).viewer;
  const { send, started, endAll } = await consume(world, 'dataset.refresh', { concurrency: 2, perTenant: 2 });
  const first = [...(await send(users[0]!, 1)), ...(await send(users[1]!, 1))];
  await expect.poll(() => started).toEqual(first);
  await send(users[2]!, 1);
  const other = await send({ tenantId, userId: newId() }, 1);
  endAll();
  await expect.poll(() => started[2]).toBe(other[0]);
  endAll();
});

test('work that has a time starts at that time, and until then others do', async ({ world, users: [ann, bob] }) => {
  const { send, started, endAll } = await consume(world, 'dataset.refresh', { concurrency: 1, perTenant: 1 });
  const { tenantId, userId } = ann!;
  const workId = newId();
  const startAfter = new Date(Date.now() + 3_600_000);
  const work = { workId, tenantId, userId, operation: 'dataset.refresh' as const, startAfter };
  await world.platform.database.transaction(tenantId, (tx) => world.queue.send([work], tx));
  const ofBob = await send(bob!, 1);
  await expect.poll(() => started).toEqual(ofBob);
  endAll();
  await runSql(world.url, `update dws_jobs.job_common set start_after = now() where state < 'active'`);
  await expect.poll(() => started, { timeout: 10_000 }).toEqual([...ofBob, workId]);
  endAll();
});
