import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { GENERATION_LOCK } from '../../src/adapters/database/generation-lock.ts';
import type { Context } from '../../src/core/context.ts';
import { newId } from '../../src/core/id.ts';
import { handlers } from '../../src/operations/handlers.ts';
import { sweepGenerations } from '../../src/operations/janitor.ts';
import { wait } from '../../src/services/operation/operation-wait.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { eventually, test as base } from '../operation/fixture.ts';
import { childrenOf, filesOf, GATED, isRunning, loaderOf, makeDataset } from '../operation/refreshable.ts';

const test = base.extend<{ ann: Context; dataset: Awaited<ReturnType<typeof makeDataset>> }>({
  ann: async ({ world }, use) => use(await world.caller()),
  dataset: async ({ world, ann }, use) => {
    const dataset = await makeDataset(world, ann);
    await use(dataset);
    await dataset.drop();
  },
});

describe('a refresh', () => {
  test('replaces the rows, tells what changed, and keeps the labels people gave', async ({ world, ann, dataset }) => {
    await world.here(handlers(world.loaders));
    const first = await wait(
      ann,
      await dataset.refresh(`select i as id, 'n' || i as name from generate_series(1, 3) i`),
    );
    expect(first).toMatchObject({ unit: 'rows', current: 3, percent: 100, total: null });
    expect(first.result).toEqual({
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
    const before = await dataset.visible();
    expect(before).toMatchObject({ records: 3, lastRefresh: { success: true, error: null } });
    expect(before.dataUpdatedAt!.toISOString()).toBe((first.result as { dataUpdatedAt: string }).dataUpdatedAt);

    await ann.query({
      text: `update dws.dataset set fields = '[{"name": "id", "label": "Number", "type": "integer", "description": "Counts"}, {"name": "name", "label": "name", "type": "string"}]'`,
    });
    const second = await wait(
      ann,
      await dataset.refresh(`select i + 0.5::float8 as id, true as odd from generate_series(1, 2) i`),
    );
    expect(second.result).toMatchObject({
      records: 2,
      previousRecordCount: 3,
      fieldsAdded: 1,
      fieldsUpdated: 1,
      fieldsRemoved: 1,
    });
    expect((await dataset.visible()).fields).toEqual([
      { name: 'id', label: 'Number', type: 'number', description: 'Counts' },
      { name: 'odd', label: 'odd', type: 'boolean' },
    ]);
    expect(
      await ann.query({
        text: 'select id, replaced_at is not null as replaced from dws.generation order by created_at',
      }),
    ).toEqual([
      { id: before.generationId, replaced: true },
      { id: (await dataset.visible()).generationId, replaced: false },
    ]);
  });

  test('keeps texts that are empty and alone in their row', async ({ world, ann, dataset }) => {
    await world.here(handlers(world.loaders));
    await wait(ann, await dataset.refresh(`select x from (values (''), ('a'), (null), ('\\N'), ('')) t (x)`));
    expect(await dataset.rows()).toEqual([{ x: '' }, { x: 'a' }, { x: null }, { x: '\\N' }, { x: '' }]);
  });

  test('makes the words of its rows before somebody searches them', async ({ world, ann, dataset }) => {
    await world.here(handlers(world.loaders));
    await wait(ann, await dataset.refresh(`select 'zoe' as name`));
    const { generationId } = await dataset.visible();
    await expect
      .poll(() => readdir(join(world.dataDir, 'datasets', generationId!)), { timeout: 20_000 })
      .toEqual(['rows.duckdb', expect.stringMatching(/^words1-[0-9a-f]{16}\.duckdb$/)]);
  });

  test('that fails leaves everything as it was and says why', async ({ world, ann, dataset }) => {
    await world.here(handlers(world.loaders));
    await wait(ann, await dataset.refresh('select 1 as id'));
    const before = await dataset.visible();
    await expect(
      wait(ann, await dataset.refresh('select 1 / (i - 3) as id from generate_series(1, 5) i')),
    ).rejects.toMatchObject({ message: expect.stringContaining('division by zero') });
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

  test('past the limit of rows or the quota fails and says so', async ({ world, ann, dataset }) => {
    await world.here(handlers(world.loaders));
    world.platform.config.MAX_DATASET_ROWS = 3;
    await expect(wait(ann, await dataset.refresh('select generate_series(1, 4) as id'))).rejects.toMatchObject({
      message: expect.stringMatching(/rows/),
    });
    world.platform.config.TENANT_QUOTA_BYTES = 100;
    await expect(wait(ann, await dataset.refresh('select generate_series(1, 2) as id'))).rejects.toMatchObject({
      status: 413,
      message: expect.stringContaining('quota is 100'),
    });
    expect(await dataset.visible()).toMatchObject({ generationId: null, records: 0 });
  });

  test('that takes too long is stopped and says so', async ({ world, ann, dataset }) => {
    await world.here(handlers(world.loaders));
    world.platform.config.REFRESH_TIMEOUT_MS = 1500;
    const open = await dataset.closeGate();
    await expect(wait(ann, await dataset.refresh(GATED))).rejects.toMatchObject({
      status: 500,
      code: 'UPSTREAM_FAILED',
    });
    await eventually(async () => (await dataset.running()).length === 0);
    await open();
  });

  test('of a dataset that was deleted meanwhile ends with 404', async ({ world, ann, dataset }) => {
    await world.here(handlers(world.loaders));
    const open = await dataset.closeGate();
    const id = await dataset.refresh(GATED);
    await eventually(async () => (await dataset.running()).length > 0);
    await ann.query({ text: 'delete from dws.dataset' });
    await open();
    await expect(wait(ann, id)).rejects.toMatchObject({ status: 404 });
  });

  test('that is cancelled ends its statement in the source and changes nothing', async ({ world, ann, dataset }) => {
    await world.worker('real');
    const open = await dataset.closeGate();
    const id = await dataset.refresh(GATED);
    await eventually(async () => (await dataset.running()).length > 0);
    await operations.cancel(ann, id);
    await expect(wait(ann, id)).rejects.toMatchObject({ code: 'CANCELLED' });
    await eventually(async () => (await dataset.running()).length === 0);
    await open();
    expect(await dataset.visible()).toMatchObject({ generationId: null, lastRefresh: null });
    expect(await filesOf(world.dataDir)).toEqual([]);
  });
});

describe('the loader', () => {
  test('has no secret in its arguments and environment', async ({ world, ann, dataset }) => {
    await world.here(handlers(world.loaders));
    const open = await dataset.closeGate();
    process.env.APP_SECRET = 'hunter2hunter2';
    const id = await dataset.refresh(GATED);
    await eventually(async () => (await dataset.running()).length > 0);
    const loader = await eventually(() => loaderOf(process.pid));
    delete process.env.APP_SECRET;
    const shown =
      (await readFile(`/proc/${loader}/environ`, 'utf8')) + (await readFile(`/proc/${loader}/cmdline`, 'utf8'));
    for (const secret of ['hunter2', 'postgres://', 'postgresql://', new URL(world.url).password].filter(Boolean))
      expect(shown).not.toContain(secret);
    await open();
    await wait(ann, id);
    await eventually(async () => !isRunning(loader));
  });

  test('that is killed is replaced, and readers see the old rows until then', async ({ world, ann, dataset }) => {
    const worker = await world.worker('real');
    await wait(ann, await dataset.refresh('select 7 as i'));
    const before = await dataset.visible();
    const open = await dataset.closeGate();
    const id = await dataset.refresh(GATED);
    await eventually(async () => (await dataset.running()).length > 0);
    process.kill((await loaderOf(worker.pid))!, 'SIGKILL');
    await eventually(async () => (await operations.get(ann, id)).sequence > 2);
    expect(await dataset.visible()).toEqual(before);
    expect(await dataset.rows()).toEqual([{ i: 7 }]);
    await open();
    expect(await wait(ann, id)).toMatchObject({ status: 'succeeded', result: { records: 5, previousRecordCount: 1 } });
    expect(await dataset.rows()).toHaveLength(5);
    await eventually(async () => (await filesOf(world.dataDir)).length === 2);
  });

  test('ends with its worker; another worker starts again and nothing is left over', async ({
    world,
    ann,
    dataset,
  }) => {
    const doomed = await world.worker('real');
    const open = await dataset.closeGate();
    const id = await dataset.refresh(GATED);
    await eventually(async () => (await dataset.running()).length > 0);
    const loader = (await loaderOf(doomed.pid))!;
    await doomed.kill('SIGKILL');
    await eventually(async () => !isRunning(loader));
    await open();
    const heir = await world.worker('real');
    expect(await wait(ann, id)).toMatchObject({ status: 'succeeded', result: { records: 5 } });
    const { generationId } = await dataset.visible();
    await eventually(async () => String(await filesOf(world.dataDir)) === generationId);
    await eventually(async () => (await childrenOf(heir.pid)).length === 0);
  });
});

test(
  'workers killed at random moments leave nothing half done behind',
  { timeout: 90_000 },
  async ({ world, ann, dataset }) => {
    const asked: string[] = [];
    for (let round = 1; round <= 4; round++) {
      const worker = await world.worker('real');
      asked.push(await dataset.refresh(`select i from generate_series(1, ${round} * 20000) i`));
      await new Promise((resolve) => {
        setTimeout(resolve, Math.random() * 1000);
      });
      await worker.kill('SIGKILL');
      const { records } = await dataset.visible();
      expect([0, 20_000, 40_000, 60_000, 80_000]).toContain(records);
    }
    await world.worker('real');
    for (const id of asked) await wait(ann, id).catch(() => null);
    const ends = await ann.query<{ status: string; attempt: number }>({
      text: 'select status, attempt from dws.operation order by id',
    });
    // Three times is the most that work may end its worker.
    for (const { status, attempt } of ends) expect(status).toMatch(attempt < 3 ? /succeeded/ : /succeeded|failed/);
    const known = await ann.query<{ id: string }>({ text: 'select id from dws.generation order by id' });
    await eventually(async () => (await filesOf(world.dataDir)).toSorted().join() === known.map(({ id }) => id).join());
    expect(await dataset.rows()).toHaveLength(100);
  },
);

test('the janitor drops what no row names and nobody holds, and what was replaced long ago', async ({
  world,
  ann,
  dataset,
}) => {
  await world.here(handlers(world.loaders));
  await wait(ann, await dataset.refresh('select 1 as id'));
  const { generationId: replaced } = await dataset.visible();
  await wait(ann, await dataset.refresh('select 2 as id'));
  const { generationId: current } = await dataset.visible();
  const [orphan, half, held, young] = [newId(), newId(), newId(), '01f00000-0000-7000-8000-000000000000'];
  // As a loader does: the lock first, for the worker's own janitor is about.
  const loader = new pg.Client({ connectionString: world.url });
  await loader.connect();
  await loader.query(`select pg_advisory_lock(${GENERATION_LOCK})`, [held]);
  for (const name of [orphan, `${half}.loading`, `${held}.loading`, young])
    await mkdir(join(world.dataDir, 'datasets', name));

  const ages = { replacedAge: 600_000, orphanAge: 0 };
  await sweepGenerations(world.platform, ages);
  expect((await filesOf(world.dataDir)).toSorted()).toEqual([replaced, current, `${held}.loading`, young].toSorted());

  await loader.end();
  await ann.query({
    text: `update dws.generation set replaced_at = now() - interval '11 minutes' where id = $1`,
    values: [replaced],
  });
  await eventually(async () => {
    await sweepGenerations(world.platform, ages);
    return (await filesOf(world.dataDir)).length === 2;
  });
  expect((await filesOf(world.dataDir)).toSorted()).toEqual([current, young].toSorted());
  expect(await dataset.rows()).toEqual([{ id: 2 }]);
});
