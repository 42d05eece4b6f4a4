import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { GENERATION_LOCK } from '../../src/adapters/database/generation-lock.ts';
import type { Context } from '../../src/core/context.ts';
import { newId } from '../../src/core/id.ts';
import { createHandlers } from '../../src/operations/handlers.ts';
import { sweepGenerations } from '../../src/operations/janitor.ts';
import { wait } from '../../src/services/operation/operation-wait.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { eventually, test as base, type World } from '../operation/fixture.ts';
import { childrenOf, filesOf, GATED, isRunning, loaderOf, createSourceDataset } from '../operation/refreshable.ts';

type TestDataset = Awaited<ReturnType<typeof createSourceDataset>>;

const test = base.extend<{ ann: Context; dataset: TestDataset }>({
  ann: async ({ world }, use) => use(await world.caller()),
  dataset: async ({ world, ann }, use) => {
    const dataset = await createSourceDataset(world, ann);
    await use(dataset);
    await dataset.drop();
  },
});

/** Refreshes a dataset with the rows of a query and waits for the end. */
const refresh = async (ann: Context, dataset: TestDataset, query: string) => wait(ann, await dataset.refresh(query));

const untilRunning = (dataset: TestDataset) => eventually(async () => (await dataset.running()).length > 0);
const untilIdle = (dataset: TestDataset) => eventually(async () => (await dataset.running()).length === 0);
const sortedFiles = async (world: World) => (await filesOf(world.dataDir)).toSorted();

describe('a refresh', () => {
  test('replaces the rows and counts the changed fields', async ({ world, ann, dataset }) => {
    await world.startWorker(createHandlers(world.loaders));
    const operation = await refresh(ann, dataset, `select i as id, 'n' || i as name from generate_series(1, 3) i`);
    expect(operation).toMatchObject({ unit: 'rows', current: 3, percent: 100, total: 3 });
    expect(operation.result).toEqual({
      id: dataset.id,
      records: 3,
      previousRecordCount: 0,
      duration: expect.any(Number),
      fieldsAdded: 2,
      fieldsUpdated: 0,
      fieldsRemoved: 0,
      dataUpdatedAt: expect.any(String),
      success: true,
    });
    expect(await dataset.rows()).toEqual([
      { id: 1, name: 'n1' },
      { id: 2, name: 'n2' },
      { id: 3, name: 'n3' },
    ]);
    const state = await dataset.visible();
    expect(state).toMatchObject({ records: 3, lastRefresh: { success: true, error: null } });
    const { dataUpdatedAt } = operation.result as { dataUpdatedAt: string };
    expect(state.dataUpdatedAt!.toISOString()).toBe(dataUpdatedAt);
  });

  test('does not change labels and descriptions of fields', async ({ world, ann, dataset }) => {
    await world.startWorker(createHandlers(world.loaders));
    await refresh(ann, dataset, `select i as id, 'n' || i as name from generate_series(1, 3) i`);
    const { generationId: replacedId } = await dataset.visible();
    const labelled = [
      { name: 'id', label: 'Number', type: 'integer', description: 'Counts' },
      { name: 'name', label: 'name', type: 'string' },
    ];
    await ann.query({ text: `update dws.dataset set fields = $1`, values: [JSON.stringify(labelled)] });

    const { result } = await refresh(
      ann,
      dataset,
      `select i + 0.5::float8 as id, true as odd from generate_series(1, 2) i`,
    );
    expect(result).toMatchObject({
      records: 2,
      previousRecordCount: 3,
      fieldsAdded: 1,
      fieldsUpdated: 1,
      fieldsRemoved: 1,
    });
    const { generationId, fields } = await dataset.visible();
    expect(fields).toEqual([
      { name: 'id', label: 'Number', type: 'number', description: 'Counts' },
      { name: 'odd', label: 'odd', type: 'boolean' },
    ]);
    const generations = await ann.query({
      text: 'select id, replaced_at is not null as replaced from dws.generation order by created_at',
    });
    expect(generations).toEqual([
      { id: replacedId, replaced: true },
      { id: generationId, replaced: false },
    ]);
  });

  test('distinguishes empty texts from missing ones in rows of one value', async ({ world, ann, dataset }) => {
    await world.startWorker(createHandlers(world.loaders));
    await refresh(ann, dataset, `select x from (values (''), ('a'), (null), ('\\N'), ('')) t (x)`);
    expect(await dataset.rows()).toEqual([{ x: '' }, { x: 'a' }, { x: null }, { x: '\\N' }, { x: '' }]);
  });

  test('builds the word index before the first search', async ({ world, ann, dataset }) => {
    await world.startWorker(createHandlers(world.loaders));
    await refresh(ann, dataset, `select 'zoe' as name`);
    const { generationId } = await dataset.visible();
    await expect
      .poll(() => readdir(join(world.dataDir, 'datasets', generationId!)))
      .toEqual(['rows.duckdb', expect.stringMatching(/^words1-[0-9a-f]{16}\.duckdb$/)]);
  });

  test('that fails changes only lastRefresh, which has the error', async ({ world, ann, dataset }) => {
    await world.startWorker(createHandlers(world.loaders));
    await refresh(ann, dataset, 'select 1 as id');
    const before = await dataset.visible();
    const failing = refresh(ann, dataset, 'select 1 / (i - 3) as id from generate_series(1, 5) i');
    await expect(failing).rejects.toMatchObject({ message: expect.stringContaining('division by zero') });
    expect(await dataset.visible()).toEqual({
      ...before,
      lastRefresh: {
        at: expect.any(String),
        success: false,
        duration: expect.any(Number),
        error: expect.stringContaining('division by zero'),
      },
    });
    expect(await filesOf(world.dataDir)).toEqual([before.generationId]);
  });

  test('past the maximum of rows or the quota fails', async ({ world, ann, dataset }) => {
    await world.startWorker(createHandlers(world.loaders));
    world.platform.config.MAX_DATASET_ROWS = 3;
    const error = 'The query returns more than the 3 rows that are allowed';
    await expect(refresh(ann, dataset, 'select generate_series(1, 4) as id')).rejects.toMatchObject({
      status: 413,
      code: 'PAYLOAD_TOO_LARGE',
      message: error,
    });
    expect(await dataset.visible()).toMatchObject({ records: 0, lastRefresh: { success: false, error } });
    world.platform.config.TENANT_QUOTA_BYTES = 100;
    await expect(refresh(ann, dataset, 'select generate_series(1, 2) as id')).rejects.toMatchObject({
      status: 413,
      message: expect.stringContaining('quota is 100'),
    });
    expect(await dataset.visible()).toMatchObject({ generationId: null, records: 0 });
  });

  test('is stopped after REFRESH_TIMEOUT_MS', async ({ world, ann, dataset }) => {
    await world.startWorker(createHandlers(world.loaders));
    world.platform.config.REFRESH_TIMEOUT_MS = 1500;
    const openGate = await dataset.closeGate();
    await expect(refresh(ann, dataset, GATED)).rejects.toMatchObject({ status: 500, code: 'UPSTREAM_FAILED' });
    await untilIdle(dataset);
    await openGate();
  });

  test('of a dataset that is deleted during it ends with 404', async ({ world, ann, dataset }) => {
    await world.startWorker(createHandlers(world.loaders));
    const openGate = await dataset.closeGate();
    const id = await dataset.refresh(GATED);
    await untilRunning(dataset);
    await ann.query({ text: 'delete from dws.dataset' });
    await openGate();
    await expect(wait(ann, id)).rejects.toMatchObject({ status: 404 });
  });

  test('that is cancelled ends its statement in the source and changes nothing', async ({ world, ann, dataset }) => {
    await world.startWorkerProcess('real');
    const openGate = await dataset.closeGate();
    const id = await dataset.refresh(GATED);
    await untilRunning(dataset);
    await operations.cancel(ann, id);
    await expect(wait(ann, id)).rejects.toMatchObject({ code: 'CANCELLED' });
    await untilIdle(dataset);
    await openGate();
    expect(await dataset.visible()).toMatchObject({ generationId: null, lastRefresh: null });
    expect(await filesOf(world.dataDir)).toEqual([]);
  });
});

describe('the loader', () => {
  test('has no secret in its arguments and environment', async ({ world, ann, dataset }) => {
    await world.startWorker(createHandlers(world.loaders));
    const openGate = await dataset.closeGate();
    process.env.APP_SECRET = 'hunter2hunter2';
    const id = await dataset.refresh(GATED);
    await untilRunning(dataset);
    const loader = await eventually(() => loaderOf(process.pid));
    delete process.env.APP_SECRET;
    const environment = await readFile(`/proc/${loader}/environ`, 'utf8');
    const commandLine = await readFile(`/proc/${loader}/cmdline`, 'utf8');
    const { password } = new URL(world.url);
    for (const secret of ['hunter2', 'postgres://', 'postgresql://', password].filter(Boolean))
      expect(environment + commandLine).not.toContain(secret);
    await openGate();
    await wait(ann, id);
    await eventually(async () => !isRunning(loader));
  });

  test('is replaced if it is killed, and readers see the old rows until then', async ({ world, ann, dataset }) => {
    const worker = await world.startWorkerProcess('real');
    await refresh(ann, dataset, 'select 7 as i');
    const before = await dataset.visible();
    const openGate = await dataset.closeGate();
    const id = await dataset.refresh(GATED);
    await untilRunning(dataset);
    process.kill((await loaderOf(worker.pid))!, 'SIGKILL');
    await eventually(async () => (await operations.get(ann, id)).sequence > 2);
    expect(await dataset.visible()).toEqual(before);
    expect(await dataset.rows()).toEqual([{ i: 7 }]);

    await openGate();
    expect(await wait(ann, id)).toMatchObject({ status: 'succeeded', result: { records: 5, previousRecordCount: 1 } });
    expect(await dataset.rows()).toHaveLength(5);
    await eventually(async () => (await filesOf(world.dataDir)).length === 2);
  });

  test('ends with its worker; another worker restarts the refresh, and nothing is left over', async ({
    world,
    ann,
    dataset,
  }) => {
    const worker = await world.startWorkerProcess('real');
    const openGate = await dataset.closeGate();
    const id = await dataset.refresh(GATED);
    await untilRunning(dataset);
    const loader = (await loaderOf(worker.pid))!;
    await worker.kill('SIGKILL');
    await eventually(async () => !isRunning(loader));
    await openGate();

    const secondWorker = await world.startWorkerProcess('real');
    expect(await wait(ann, id)).toMatchObject({ status: 'succeeded', result: { records: 5 } });
    const { generationId } = await dataset.visible();
    await eventually(async () => String(await filesOf(world.dataDir)) === generationId);
    await eventually(async () => (await childrenOf(secondWorker.pid)).length === 0);
  });
});

/** An operation fails if its workers died this many times. */
const MAX_ATTEMPTS = 3;

test('workers that are killed at random times leave nothing incomplete behind', async ({ world, ann, dataset }) => {
  const operationIds: string[] = [];
  for (let round = 1; round <= 4; round++) {
    const worker = await world.startWorkerProcess('real');
    operationIds.push(await dataset.refresh(`select i from generate_series(1, ${round} * 20000) i`));
    await sleep(Math.random() * 1000);
    await worker.kill('SIGKILL');
    const { records } = await dataset.visible();
    expect([0, 20_000, 40_000, 60_000, 80_000]).toContain(records);
  }
  await world.startWorkerProcess('real');
  for (const id of operationIds) await wait(ann, id).catch(() => null);
  const ended = await ann.query<{ status: string; attempt: number }>({
    text: 'select status, attempt from dws.operation order by id',
  });
  for (const { status, attempt } of ended)
    expect(status).toMatch(attempt < MAX_ATTEMPTS ? /succeeded/ : /succeeded|failed/);
  const generations = await ann.query<{ id: string }>({ text: 'select id from dws.generation order by id' });
  const generationIds = generations.map(({ id }) => id).join();
  await eventually(async () => (await sortedFiles(world)).join() === generationIds);
  expect(await dataset.rows()).toHaveLength(100);
});

test('the janitor deletes unknown and long replaced generations, except locked and new ones', async ({
  world,
  ann,
  dataset,
}) => {
  await world.startWorker(createHandlers(world.loaders));
  await refresh(ann, dataset, 'select 1 as id');
  const { generationId: replaced } = await dataset.visible();
  await refresh(ann, dataset, 'select 2 as id');
  const { generationId: current } = await dataset.visible();
  const [orphan, incomplete, locked, young] = [newId(), newId(), newId(), '01f00000-0000-7000-8000-000000000000'];
  // The lock comes before the folder, as in a loader, because the worker's own janitor runs too.
  const loader = new pg.Client({ connectionString: world.url });
  await loader.connect();
  await loader.query(`select pg_advisory_lock(${GENERATION_LOCK})`, [locked]);
  for (const name of [orphan, `${incomplete}.loading`, `${locked}.loading`, young])
    await mkdir(join(world.dataDir, 'datasets', name));

  const ages = { replacedAge: 600_000, orphanAge: 0 };
  await sweepGenerations(world.platform, ages);
  expect(await sortedFiles(world)).toEqual([replaced, current, `${locked}.loading`, young].toSorted());

  await loader.end();
  await ann.query({
    text: `update dws.generation set replaced_at = now() - interval '11 minutes' where id = $1`,
    values: [replaced],
  });
  await eventually(async () => {
    await sweepGenerations(world.platform, ages);
    return (await filesOf(world.dataDir)).length === 2;
  });
  expect(await sortedFiles(world)).toEqual([current, young].toSorted());
  expect(await dataset.rows()).toEqual([{ id: 2 }]);
});
