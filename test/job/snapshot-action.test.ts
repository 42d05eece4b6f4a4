import { describe, expect } from 'vitest';
import { remove } from '../../src/services/dataset/snapshot.ts';
import type { Client } from '../support/client.ts';
import { expectError, expectStatus } from '../support/expect.ts';
import { createSnapshot } from '../support/report-fixture.ts';
import { systemQuery } from '../support/system-query.ts';
import { createTeam } from '../support/team-fixture.ts';
import { attempt, contextOf, createAction, ownerOf, preview, run } from './driver-fixture.ts';
import { createJob, test as base } from './job-fixture.ts';

const today = () => new Date().toISOString().slice(0, 10);

/** Returns the names of the snapshots of a dataset, the latest first. */
const snapshotNames = async (reader: Client, path: string): Promise<string[]> =>
  (await reader.get(`${path}/snapshot-list`)).body._embedded['svc:snapshot'].map(({ name }: { name: string }) => name);

interface Series {
  id: string;
  path: string;
  /** Ids of the snapshots, the oldest first. */
  snapshots: string[];
}

interface SeriesFixture {
  /** Creates a dataset of ann's with three rows, and the snapshots `S1` to `S<count>` of it, the last one the latest. */
  createSeries: (count: number, more?: object) => Promise<Series>;
}

const test = base.extend<SeriesFixture>({
  createSeries: [
    async ({ ann, service, source }, use) =>
      use(async (count, more = {}) => {
        const query = 'select id, region from orders where id <= 3 order by id';
        const input = { name: 'Series', datasourceId: source.id, query, refresh: true, fieldSecurityEnabled: true };
        const { id } = await ann.creates('/datasets', { ...input, ...more });
        const snapshots: string[] = [];
        for (let n = 1; n <= count; n++) snapshots.push(await createSnapshot(service, id, `S${n}`, `2026-01-0${n}`));
        return { id, path: `/datasets/${id}`, snapshots };
      }),
    { scope: 'file' },
  ],
});

describe('a snapshot', () => {
  test('belongs to the owner of the job, and has by default the name of the dataset and the date', async ({
    ann,
    bob,

    createSeries,
  }) => {
    const { id, path } = await createSeries(0);
    await expectStatus(ann.put(`${path}/shares/bob`, { accessLevel: 1 }), 200);
    const action = await createAction(bob, 'snapshot', { alias: 'a' }, { datasets: { a: id } });
    expect(await preview(bob, action)).toEqual({ dataset: 'Series', name: `Series ${today()}`, rows: 3 });
    await expectStatus(bob.put(`${action.job.path}/shares/ann`, { accessLevel: 2 }), 200);
    const { success, log } = await run(ann, action, 'REST');
    expect(success).toBe(true);
    const list = (await ann.get(`${path}/snapshot-list`)).body._embedded['svc:snapshot'];
    expect(list).toMatchObject([{ name: `Series ${today()}`, ownerId: bob.id, records: 3, isSnapshot: true }]);
    expect(log).toEqual([`Created the snapshot ${list[0].id}`]);
  });

  test('has the name of the action, at each run', async ({ ann, createSeries }) => {
    const { id, path } = await createSeries(0);
    const action = await createAction(ann, 'snapshot', { datasetId: id, name: 'Nightly' });
    expect(await preview(ann, action)).toEqual({ dataset: 'Series', name: 'Nightly', rows: 3 });
    await run(ann, action);
    await run(ann, action);
    expect(await snapshotNames(ann, path)).toEqual(['Nightly', 'Nightly']);
  });

  test('of a dataset with the longest name is cut for the date', async ({ ann, createSeries }) => {
    const { id, path } = await createSeries(0, { name: 'n'.repeat(255) });
    await run(ann, await createAction(ann, 'snapshot', { datasetId: id }));
    expect(await snapshotNames(ann, path)).toEqual([`${'n'.repeat(244)} ${today()}`]);
  });

  test('of a job of a team belongs to the team, and keeps the query of its datasource', async ({
    admin,
    ann,
    bob,
    service,
    shop,
  }) => {
    const team = await createTeam(admin, 'Snappers', ann);
    const { config, secrets } = shop;
    const { id: datasourceId } = await admin.creates('/datasources', {
      name: 'Of the team',
      type: 'postgres',
      config,
      secrets,
      ownerId: `team:${team}`,
    });
    const { id } = await admin.creates('/datasets', {
      name: 'Shared work',
      datasourceId,
      query: 'select 1 as one',
      refresh: true,
      ownerId: `team:${team}`,
    });
    const action = await createAction(ann, 'snapshot', { datasetId: id, name: 'By the team' });
    await expectStatus(admin.put(`${action.job.path}/owner`, { ownerId: `team:${team}` }), 200);
    await admin.creates(`${action.job.path}/actions`, { type: 'refresh', name: 'Load', data: { datasetId: id } });
    expect((await admin.post(action.job.path, {})).body).toMatchObject({ success: true, history: [{}, {}] });
    const [snapshot] = (await ann.get(`/datasets/${id}/snapshot-list`)).body._embedded['svc:snapshot'];
    expect(snapshot).toMatchObject({ name: 'By the team', ownerId: `team:${team}`, records: 1 });
    expect(
      await systemQuery(service, `select query, datasource_id as source from dws.dataset where id = $1`, snapshot.id),
    ).toEqual([{ query: 'select 1 as one', source: datasourceId }]);
    const { body } = await ann.get(`/datasets/${id}/activity`);
    expect(body._embedded['svc:activity'].slice(0, 2)).toMatchObject([
      { type: 'dataset.refreshed', message: 'Snappers refreshed Shared work', userId: null },
      {
        type: 'dataset.snapshot.created',
        message: 'Snappers created the snapshot By the team of Shared work',
        userId: null,
      },
    ]);
    const others = await createTeam(admin, 'Others', bob);
    await expectStatus(admin.put(`${action.job.path}/owner`, { ownerId: `team:${others}` }), 200);
    expect(await run(admin, action)).toMatchObject({ success: false, error: `There is no dataset ${id}` });
  });
});

const failedWith = (error: string) => ({ success: false, error, attempts: 1, log: [error] });

describe('an owner without the right', () => {
  test('to copy, who sees a part only, takes no snapshot and deletes none', async ({
    ann,
    bob,

    createSeries,
  }) => {
    const { id, path } = await createSeries(2);
    const filter = await ann.creates(`${path}/filters`, { name: 'EU', criteria: { region: 'US' } });
    const share = { accessLevel: 3, datasetFilterId: filter.id, restrictFields: true, visibleFields: ['id'] };
    await expectStatus(ann.put(`${path}/shares/bob`, share), 200);
    const [taking, cleaning, refreshing] = await Promise.all([
      createAction(bob, 'snapshot', { datasetId: id, name: 'Mine' }),
      createAction(bob, 'snapshot-cleanup', { datasetId: id, keep: 0 }),
      createAction(bob, 'refresh', { datasetId: id }),
    ]);
    const { dataUpdatedAt } = (await ann.get(path)).body;
    for (const [action, permission] of [
      [taking, 'dataset:copy'],
      [cleaning, 'dataset:write'],
      [refreshing, 'dataset:refresh'],
    ] as const)
      for (const api of ['REST', 'GraphQL'] as const)
        expect(await run(bob, action, api), action.type).toEqual(failedWith(`You lack the permission ${permission}`));
    expect((await ann.get(path)).body.dataUpdatedAt).toBe(dataUpdatedAt);
    expect(await snapshotNames(ann, path)).toEqual(['S2', 'S1']);
    // The previews count what the caller sees.
    for (const { job } of [taking, refreshing])
      await expectStatus(bob.put(`${job.path}/shares/ann`, { accessLevel: 1 }), 200);
    expect(await preview(bob, taking)).toEqual({ dataset: 'Series', name: 'Mine', rows: 1 });
    expect(await preview(ann, taking)).toMatchObject({ rows: 3 });
    expect(await preview(bob, refreshing)).toMatchObject({ dataset: 'Series', rows: 1 });
    expect(await preview(ann, refreshing)).toMatchObject({ dataset: 'Series', rows: 3 });
    expect(await preview(bob, cleaning)).toMatchObject({ deletedCount: 0, keptCount: 2 });

    await expectStatus(ann.delete(`${path}/shares/bob`), 204);
    for (const action of [taking, cleaning, refreshing]) {
      expect(await run(bob, action), action.type).toEqual(failedWith(`There is no dataset ${id}`));
      await expectError(bob.post(`${action.action.path}/_preview`), 404, `There is no dataset ${id}`);
    }
  });
});

describe('a cleanup', () => {
  test('deletes the oldest, and keeps the latest', async ({ ann, createSeries }) => {
    const { id, path, snapshots } = await createSeries(5);
    const other = await createSeries(2);
    const cleanup = await createAction(ann, 'snapshot-cleanup', { datasetId: id, keep: 2 });
    const named = (n: number) => ({ id: snapshots[n - 1], name: `S${n}`, snapshotDate: `2026-01-0${n}T00:00:00.000Z` });
    expect(await preview(ann, cleanup)).toEqual({
      dataset: 'Series',
      deletedCount: 3,
      deleted: [named(3), named(2), named(1)],
      keptCount: 2,
      kept: [
        { ...named(5), reason: 'latest' },
        { ...named(4), reason: 'latest' },
      ],
    });
    expect(await snapshotNames(ann, path), 'a preview deletes nothing').toHaveLength(5);
    expect((await run(ann, cleanup)).log).toEqual([1, 2, 3].map((n) => `The snapshot ${snapshots[n - 1]} was deleted`));
    expect(await snapshotNames(ann, path)).toEqual(['S5', 'S4']);
    expect(await run(ann, cleanup), 'nothing is left to do').toMatchObject({ success: true, log: [] });
    expect(await snapshotNames(ann, other.path)).toEqual(['S2', 'S1']);
    await run(ann, await createAction(ann, 'snapshot-cleanup', { datasetId: id, keep: 0 }));
    expect(await snapshotNames(ann, path)).toEqual([]);
  });

  test('keeps a snapshot that a report or job names', async ({ ann, service, createSeries, report, attach }) => {
    const { id, path, snapshots } = await createSeries(4);
    await attach(await report(), { datasetId: id, snapshots: { snapshotDatasets: [snapshots[0]] } });
    const datasets = { series: { datasetId: id, snapshots: { when: null, snapshotDatasets: [snapshots[2]] } } };
    await createJob(ann, { name: 'Names one', datasets });
    const cleanup = await createAction(ann, 'snapshot-cleanup', { datasetId: id, keep: 1 });
    const reasons = { kept: [{ reason: 'latest' }, { name: 'S3', reason: 'used' }, { name: 'S1', reason: 'used' }] };
    expect(await preview(ann, cleanup)).toMatchObject({ ...reasons, deleted: [{ name: 'S2' }] });
    expect((await run(ann, cleanup)).log).toEqual([
      `The snapshot ${snapshots[0]} was kept, because a report or job uses it`,
      `The snapshot ${snapshots[1]} was deleted`,
      `The snapshot ${snapshots[2]} was kept, because a report or job uses it`,
    ]);
    expect(await snapshotNames(ann, path)).toEqual(['S4', 'S3', 'S1']);
    // It may have been named after the cleanup was planned.
    const removal = remove(await contextOf(service, ownerOf(ann)), id, snapshots[0]!, { ifUnnamed: true });
    await expect(removal).rejects.toThrow('A report or job names the snapshot');
    // Resources that name a snapshot are among its references.
    const { body } = await ann.get(`/datasets/${snapshots[0]}/references`);
    expect(body._embedded['svc:reference']).toMatchObject([{ kind: 'report', name: 'Sales' }]);
  });

  test('deletes only what the owner of the job may delete', async ({ ann, bob, createSeries }) => {
    const { id, path, snapshots } = await createSeries(2);
    await expectStatus(ann.put(`${path}/shares/bob`, { accessLevel: 1 }), 200);
    const own = (await bob.creates(`${path}/snapshots`, { name: 'Of bob' })).id;
    const latest = (await ann.creates(`${path}/snapshots`, { name: 'Latest' })).id;
    const cleanup = await createAction(bob, 'snapshot-cleanup', { datasetId: id, keep: 1 });
    expect(await preview(bob, cleanup)).toMatchObject({
      deleted: [{ id: own }],
      kept: [{ id: latest }, { reason: 'notAllowed' }, { reason: 'notAllowed' }],
    });
    expect((await run(bob, cleanup)).log).toEqual([
      ...snapshots.map((one) => `The snapshot ${one} was kept, because the owner of the job may not delete it`),
      `The snapshot ${own} was deleted`,
    ]);
    expect(await snapshotNames(ann, path)).toEqual(['Latest', 'S2', 'S1']);
    // Now there is nothing that bob may delete.
    expect(await run(bob, cleanup)).toEqual(failedWith('You lack the permission dataset:write'));
  });

  test('stops when the run is cancelled', async ({ ann, service, createSeries }) => {
    const { id, path } = await createSeries(3);
    const cleanup = await createAction(ann, 'snapshot-cleanup', { datasetId: id, keep: 0 });
    const cancellation = new AbortController();
    const cancel = () => cancellation.abort(new Error('Cancelled'));
    const cancelled = attempt(service, ownerOf(ann), cleanup, { signal: cancellation.signal, onLog: cancel });
    await expect(cancelled).rejects.toThrow('Cancelled');
    expect(await snapshotNames(ann, path)).toEqual(['S3', 'S2']);
  });
});

test('snapshots of a job’s datasets are taken before or after', async ({ ann, shop, source }) => {
  await shop.sql(`create table steps as select 1 as id`);
  const input = { name: 'Steps', datasourceId: source.id, query: 'select * from steps', refresh: true };
  const { id } = await ann.creates('/datasets', input);
  await shop.sql(`insert into steps values (2)`);
  for (const [when, records] of [
    ['before', 1],
    ['after', 3],
  ] as const) {
    const datasets = { steps: { datasetId: id, snapshots: { when } } };
    const job = await createJob(ann, { type: 'dataset-refresh', datasets });
    expect((await ann.post(job.path, {})).body).toMatchObject({ success: true });
    const [latest] = (await ann.get(`/datasets/${id}/snapshot-list`)).body._embedded['svc:snapshot'];
    expect(latest, when).toMatchObject({ name: `Steps ${today()}`, records });
    await shop.sql(`insert into steps values (3)`);
  }
});
