import pg from 'pg';
import { expect } from 'vitest';
import type { Context } from '../../src/core/context.ts';
import { handlers } from '../../src/operations/handlers.ts';
import { sweepGenerations } from '../../src/operations/janitor.ts';
import { copy } from '../../src/services/dataset/dataset-copy.ts';
import * as snapshots from '../../src/services/dataset/snapshot.ts';
import type { OperationRecord } from '../../src/services/operation/operation-record.ts';
import { wait } from '../../src/services/operation/operation-wait.ts';
import { get } from '../../src/services/operation/operation.ts';
import { eventually, rows, test, type World } from '../operation/fixture.ts';
import { filesOf, makeDataset } from '../operation/refreshable.ts';

/** A dataset of 100 rows of somebody who is a user, loaded by a worker that is gone again. */
async function loaded(world: World) {
  const ann = await world.caller();
  await rows(world, `insert into dws.app_user (id, tenant_id, username, enabled) values ($1, $2, 'ann', true)`, [
    ann.viewer.userId,
    ann.viewer.tenantId,
  ]);
  const dataset = await makeDataset(world, ann);
  const first = await world.worker('real');
  await wait(ann, await dataset.refresh('select n from generate_series(1, 100) n'));
  await first.kill('SIGTERM');
  return { ann, dataset, before: await filesOf(world.dataDir) };
}

/** Keeps datasets from getting their names, so that none is published, until the answered function is called. */
async function holdNames(world: World, { viewer }: Context): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: world.url });
  await client.connect();
  await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [`slug:${viewer.tenantId}:dataset`]);
  return () => client.end();
}

const publishing = (world: World) =>
  eventually(
    async () =>
      (
        await rows(
          world,
          `select 1 from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`,
        )
      ).length > 0,
  );
const made = (world: World) =>
  rows(
    world,
    `select name, records, parent_id is not null as part, (select count(*)::int from dws.generation g where g.id = d.generation_id and g.dataset_id = d.id) as generations from dws.dataset d where name <> 'Numbers' order by name`,
  );
const sweep = (world: World) => sweepGenerations(world.platform, { replacedAge: 600_000, orphanAge: 0 });

const ALL = { data: true, visuals: false, filters: false, sharing: false };
const CASES: Record<string, (ann: Context, id: string) => Promise<OperationRecord>> = {
  copy: (ann, id) => copy(ann, id, { name: 'Made' }, ALL, false),
  snapshot: (ann, id) => snapshots.create(ann, id, { name: 'Made' }, null, false),
};

test.for(Object.keys(CASES))(
  'a worker killed while it publishes a %s leaves nothing half visible, and another makes it once',
  async (what, { world }) => {
    const { ann, dataset, before } = await loaded(world);
    const doomed = await world.worker('real');
    const letGo = await holdNames(world, ann);
    const { id } = await CASES[what]!(ann, dataset.id);
    await publishing(world);
    const [orphan] = (await filesOf(world.dataDir)).filter((name) => !before.includes(name));
    // No row names it yet, and it is spared nevertheless.
    await sweep(world);
    expect(await filesOf(world.dataDir)).toContain(orphan);

    await doomed.kill('SIGKILL');
    expect(await made(world)).toEqual([]);
    expect(await get(ann, id)).toMatchObject({ status: 'running' });
    await letGo();
    await world.here(handlers(world.loaders));
    expect(await wait(ann, id)).toMatchObject({ status: 'succeeded', result: { name: 'Made', records: 100 } });
    expect(await made(world)).toEqual([{ name: 'Made', records: 100, part: what === 'snapshot', generations: 1 }]);
    await sweep(world);
    const left = await filesOf(world.dataDir);
    expect([left.includes(orphan!), left.length]).toEqual([false, before.length + 1]);
    expect(await dataset.rows()).toHaveLength(100);
  },
);

test('a promotion whose worker is killed leaves the snapshot one, and another does it', async ({ world }) => {
  const { ann, dataset } = await loaded(world);
  const doomed = await world.worker('real');
  const { result } = await snapshots.create(ann, dataset.id, { name: 'Kept' }, null, true);
  const { id: snapshot } = result as { id: string };
  const letGo = await holdNames(world, ann);
  const { id } = await snapshots.promote(ann, dataset.id, snapshot, { name: 'Free' }, null, false);
  await publishing(world);
  await doomed.kill('SIGKILL');
  expect(await made(world)).toEqual([{ name: 'Kept', records: 100, part: true, generations: 1 }]);
  await letGo();
  await world.here(handlers(world.loaders));
  expect(await wait(ann, id)).toMatchObject({
    status: 'succeeded',
    result: { id: snapshot, name: 'Free', records: 100 },
  });
  expect(await made(world)).toEqual([{ name: 'Free', records: 100, part: false, generations: 1 }]);
});

test('who has lost the right since they asked gets nothing, and no rows stay', async ({ world }) => {
  const { ann, dataset, before } = await loaded(world);
  const lost = await CASES['copy']!(ann, dataset.id);
  await rows(world, `update dws.dataset set owner_id = 'user:01900000-0000-7000-8000-000000000000' where id = $1`, [
    dataset.id,
  ]);
  await world.here(handlers(world.loaders));
  await expect(wait(ann, lost.id)).rejects.toMatchObject({
    status: 403,
    message: 'You lack the permission dataset:copy',
  });
  await eventually(async () => (await filesOf(world.dataDir)).length === before.length);
  expect(await made(world)).toEqual([]);
});

test('a snapshot of a dataset that is deleted first fails, and leaves nothing', async ({ world }) => {
  const { ann, dataset } = await loaded(world);
  const { id } = await CASES['snapshot']!(ann, dataset.id);
  await rows(world, `delete from dws.dataset where id = $1`, [dataset.id]);
  await world.here(handlers(world.loaders));
  await expect(wait(ann, id)).rejects.toMatchObject({ status: 404, message: `There is no dataset ${dataset.id}` });
  expect(await made(world)).toEqual([]);
});

test('two promotions of one snapshot make one dataset of it', async ({ world }) => {
  const { ann, dataset } = await loaded(world);
  await world.here(handlers(world.loaders));
  const { result } = await snapshots.create(ann, dataset.id, { name: 'Kept' }, null, true);
  const { id: snapshot } = result as { id: string };
  const letGo = await holdNames(world, ann);
  const asked = [
    await snapshots.promote(ann, dataset.id, snapshot, { name: 'One' }, null, false),
    await snapshots.promote(ann, dataset.id, snapshot, { name: 'Other' }, null, false),
  ];
  await publishing(world);
  await letGo();
  const ends = await Promise.allSettled(asked.map(({ id }) => wait(ann, id)));
  expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { status: 409, message: 'The dataset is no longer a snapshot' },
  });
  expect(await made(world)).toHaveLength(1);
});
