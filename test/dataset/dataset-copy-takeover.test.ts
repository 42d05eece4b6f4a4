import pg from 'pg';
import { expect } from 'vitest';
import type { Context } from '../../src/core/context.ts';
import { createHandlers } from '../../src/operations/handlers.ts';
import { sweepGenerations } from '../../src/operations/janitor.ts';
import { copy } from '../../src/services/dataset/dataset-copy.ts';
import * as snapshots from '../../src/services/dataset/snapshot.ts';
import type { OperationRecord } from '../../src/services/operation/operation-record.ts';
import { wait } from '../../src/services/operation/operation-wait.ts';
import { get } from '../../src/services/operation/operation.ts';
import { eventually, rows, test, type World } from '../operation/fixture.ts';
import { filesOf, createSourceDataset } from '../operation/refreshable.ts';

/** Creates a caller and a dataset of 100 rows, loaded by a worker that has stopped. */
async function createDataset(world: World) {
  const ann = await world.caller();
  const dataset = await createSourceDataset(world, ann);
  const first = await world.startWorkerProcess('real');
  await wait(ann, await dataset.refresh('select n from generate_series(1, 100) n'));
  await first.kill('SIGTERM');
  return { ann, dataset, before: await filesOf(world.dataDir) };
}

/** Blocks publication, which records an activity, by a lock. Returns a function that releases the lock. */
async function lockActivities(world: World): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: world.url });
  await client.connect();
  await client.query('begin');
  await client.query('lock table dws.activity in share mode');
  return () => client.end();
}

const untilPublishing = (world: World) =>
  eventually(
    async () =>
      (
        await rows(
          world,
          `select 1 from pg_locks
          where relation = 'dws.activity'::regclass and not granted
            and database = (select oid from pg_database where datname = current_database())`,
        )
      ).length > 0,
  );
const publishedDatasets = (world: World) =>
  rows(
    world,
    `select name, records, parent_id is not null as part,
      (select count(*)::int from dws.generation g where g.id = d.generation_id and g.dataset_id = d.id) as generations
    from dws.dataset d
    where name <> 'Numbers'
    order by name`,
  );
const sweep = (world: World) => sweepGenerations(world.platform, { replacedAge: 600_000, orphanAge: 0 });

const DATA_ONLY = { data: true, visuals: false, filters: false, sharing: false };
const START: Record<string, (ann: Context, id: string) => Promise<OperationRecord>> = {
  copy: (ann, id) => copy(ann, id, { name: 'Published' }, DATA_ONLY, false),
  snapshot: (ann, id) => snapshots.create(ann, id, { name: 'Published' }, null, false),
};

test.for(Object.keys(START))(
  'a %s whose worker is killed during publication is published once by another',
  async (what, { world }) => {
    const { ann, dataset, before } = await createDataset(world);
    const killed = await world.startWorkerProcess('real');
    const unlock = await lockActivities(world);
    const { id } = await START[what]!(ann, dataset.id);
    await untilPublishing(world);
    const [orphan] = (await filesOf(world.dataDir)).filter((name) => !before.includes(name));
    // No row references the generation yet, but the janitor keeps it.
    await sweep(world);
    expect(await filesOf(world.dataDir)).toContain(orphan);

    await killed.kill('SIGKILL');
    expect(await publishedDatasets(world)).toEqual([]);
    expect(await get(ann, id)).toMatchObject({ status: 'running' });
    await unlock();
    await world.startWorker(createHandlers(world.loaders));
    expect(await wait(ann, id)).toMatchObject({ status: 'succeeded', result: { name: 'Published', records: 100 } });
    expect(await publishedDatasets(world)).toEqual([
      { name: 'Published', records: 100, part: what === 'snapshot', generations: 1 },
    ]);
    await sweep(world);
    const remaining = await filesOf(world.dataDir);
    expect([remaining.includes(orphan!), remaining.length]).toEqual([false, before.length + 1]);
    expect(await dataset.rows()).toHaveLength(100);
  },
);

test('a promotion whose worker is killed does not change the snapshot, and is repeated', async ({ world }) => {
  const { ann, dataset } = await createDataset(world);
  const killed = await world.startWorkerProcess('real');
  const { result } = await snapshots.create(ann, dataset.id, { name: 'Kept' }, null, true);
  const { id: snapshot } = result as { id: string };
  const unlock = await lockActivities(world);
  const { id } = await snapshots.promote(ann, dataset.id, snapshot, { name: 'Free' }, null, false);
  await untilPublishing(world);
  await killed.kill('SIGKILL');
  expect(await publishedDatasets(world)).toEqual([{ name: 'Kept', records: 100, part: true, generations: 1 }]);
  await unlock();
  await world.startWorker(createHandlers(world.loaders));
  expect(await wait(ann, id)).toMatchObject({
    status: 'succeeded',
    result: { id: snapshot, name: 'Free', records: 100 },
  });
  expect(await publishedDatasets(world)).toEqual([{ name: 'Free', records: 100, part: false, generations: 1 }]);
});

test('a copy fails without remains when the caller has lost the permission', async ({ world }) => {
  const { ann, dataset, before } = await createDataset(world);
  const started = await START['copy']!(ann, dataset.id);
  await rows(world, `update dws.dataset set owner_id = 'user:01900000-0000-7000-8000-000000000000' where id = $1`, [
    dataset.id,
  ]);
  await world.startWorker(createHandlers(world.loaders));
  await expect(wait(ann, started.id)).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND' });
  await eventually(async () => (await filesOf(world.dataDir)).length === before.length);
  expect(await publishedDatasets(world)).toEqual([]);
});

test('a snapshot fails without remains when its dataset is deleted', async ({ world }) => {
  const { ann, dataset } = await createDataset(world);
  const { id } = await START['snapshot']!(ann, dataset.id);
  await rows(world, `delete from dws.dataset where id = $1`, [dataset.id]);
  await world.startWorker(createHandlers(world.loaders));
  await expect(wait(ann, id)).rejects.toMatchObject({ status: 404, message: `There is no dataset ${dataset.id}` });
  expect(await publishedDatasets(world)).toEqual([]);
});

test('of two promotions of a snapshot one fails', async ({ world }) => {
  const { ann, dataset } = await createDataset(world);
  await world.startWorker(createHandlers(world.loaders));
  const { result } = await snapshots.create(ann, dataset.id, { name: 'Kept' }, null, true);
  const { id: snapshot } = result as { id: string };
  const unlock = await lockActivities(world);
  const promotions = [
    await snapshots.promote(ann, dataset.id, snapshot, { name: 'One' }, null, false),
    await snapshots.promote(ann, dataset.id, snapshot, { name: 'Other' }, null, false),
  ];
  await untilPublishing(world);
  await unlock();
  const outcomes = await Promise.allSettled(promotions.map(({ id }) => wait(ann, id)));
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { status: 409, message: 'The dataset is no longer a snapshot' },
  });
  expect(await publishedDatasets(world)).toHaveLength(1);
});
