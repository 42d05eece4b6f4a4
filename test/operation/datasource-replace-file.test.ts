import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Context } from '../../src/core/context.ts';
import { yieldOnce } from '../../src/core/files.ts';
import { newId } from '../../src/core/id.ts';
import { createHandlers } from '../../src/operations/handlers.ts';
import { sweepFiles } from '../../src/operations/janitor.ts';
import { wait } from '../../src/services/operation/operation-wait.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { insertStoredFile } from '../../src/services/resource/stored-file.ts';
import { rows, test, until, type World } from './fixture.ts';
import { REFRESH_SETTINGS } from './refreshable.ts';

const FAST = 'select word from data';
/** Takes a second or more. */
const SLOW =
  'select word from data where (select count(*) from range(30000) a, range(30000) b where a.range + b.range > 5) > 0';
const CONFIG = { format: 'csv' };

/** Creates a datasource with the file `old` and a dataset without rows. */
async function createUploaded(world: World, ann: Context) {
  const { tenantId, userId } = ann.viewer;
  const [datasetId, datasourceId] = [newId(), newId()];
  const store = async (word: string) => {
    const saved = await world.platform.files.save(yieldOnce(Buffer.from(`word\n${word}\n`)), 0);
    await ann.transaction(async (tx) =>
      insertStoredFile(tx, tenantId, { ...saved, filename: `${word}.csv`, contentType: 'text/csv' }),
    );
    return saved.id;
  };
  const owned = [tenantId, `user:${userId}`, datasourceId];
  await rows(
    world,
    `insert into dws.datasource (id, tenant_id, name, slug, owner_id, type, config, file_id)
      values ($3, $1, 'Words', 'words', $2, 'file', $4, $5)`,
    [...owned, JSON.stringify(CONFIG), await store('old')],
  );
  await rows(
    world,
    `insert into dws.dataset (id, tenant_id, name, slug, owner_id, datasource_id) values ($4, $1, 'W', 'w', $2, $3)`,
    [...owned, datasetId],
  );
  const refresh = (query: string) => ({
    datasetId,
    datasourceId,
    query,
    ...REFRESH_SETTINGS,
  });
  return {
    store,
    /** Starts the replacement of the file by a stored one, with a refresh of the dataset. Returns the id of the operation. */
    replace: (fileId: string, query: string) =>
      ann.transaction((tx) =>
        operations.start(ann, tx, {
          operation: 'datasource.replaceFile',
          resource: { kind: 'datasource', id: datasourceId },
          input: { newFile: { id: fileId, type: 'file', config: CONFIG, problems: [] }, refreshes: [refresh(query)] },
          concurrencyKey: `datasource:${datasourceId}`,
        }),
      ),
    refresh: (query: string) =>
      ann.transaction((tx) =>
        operations.start(ann, tx, {
          operation: 'dataset.refresh',
          resource: { kind: 'dataset', id: datasetId },
          input: refresh(query),
          concurrencyKey: `dataset:${datasetId}`,
        }),
      ),
    /** Returns the name of the datasource's file, the stored files after the janitor, and what the dataset was read from. */
    async state() {
      await sweepFiles(world.platform, 0);
      const [source] = await rows(
        world,
        `select f.filename from dws.datasource d join dws.stored_file f on f.id = d.file_id where d.id = $1`,
        [datasourceId],
      );
      const stored = await rows(world, `select id from dws.stored_file`);
      expect(readdirSync(join(world.dataDir, 'files')).toSorted()).toEqual(stored.map(({ id }) => id).toSorted());
      return { file: source!.filename, stored: stored.length };
    },
    async loaded() {
      const [generation] = await rows(
        world,
        `select g.records from dws.generation g join dws.dataset d on d.generation_id = g.id where d.id = $1`,
        [datasetId],
      );
      return generation?.records ?? null;
    },
  };
}

test('a replacement whose worker is killed leaves the former file until another worker has finished it', async ({
  world,
}) => {
  const ann = await world.caller();
  const uploaded = await createUploaded(world, ann);
  const killed = await world.startWorkerProcess('real');
  const id = await uploaded.replace(await uploaded.store('new\nnewer'), SLOW);
  await until(ann, id, 'running');
  await killed.kill('SIGKILL');
  expect(await uploaded.state()).toEqual({ file: 'old.csv', stored: 2 });
  expect(await uploaded.loaded()).toBe(null);

  await world.startWorkerProcess('real');
  expect(await wait(ann, id)).toMatchObject({ status: 'succeeded', result: { refreshed: [{ records: 2 }] } });
  expect(await uploaded.state()).toEqual({ file: 'new\nnewer.csv', stored: 1 });
  expect(await uploaded.loaded()).toBe(2);
});

test('a replacement that fails, or is cancelled before or while it runs, deletes its file only', async ({ world }) => {
  const ann = await world.caller();
  const uploaded = await createUploaded(world, ann);
  const queued = await uploaded.replace(await uploaded.store('queued'), FAST);
  await operations.cancel(ann, queued);
  expect(await uploaded.state()).toEqual({ file: 'old.csv', stored: 1 });

  await world.startWorker(createHandlers(world.loaders));
  const failed = await uploaded.replace(await uploaded.store('failed'), 'select nothing from data');
  await expect(wait(ann, failed)).rejects.toMatchObject({ status: 400 });
  expect(await uploaded.state()).toEqual({ file: 'old.csv', stored: 1 });

  const running = await uploaded.replace(await uploaded.store('running'), SLOW);
  await until(ann, running, 'running');
  await operations.cancel(ann, running);
  await expect(wait(ann, running)).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(await uploaded.state()).toEqual({ file: 'old.csv', stored: 1 });
});

test('a refresh that reads the former file does not replace the rows of the new one', async ({ world }) => {
  const ann = await world.caller();
  const uploaded = await createUploaded(world, ann);
  await world.startWorker(createHandlers(world.loaders));
  const refresh = await uploaded.refresh(SLOW);
  await until(ann, refresh, 'running');
  const replacements = [
    await uploaded.replace(await uploaded.store('new\nnewer'), FAST),
    await uploaded.replace(await uploaded.store('new\nnewer\nnewest'), FAST),
  ];
  for (const id of replacements) await wait(ann, id);
  await expect(wait(ann, refresh)).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(await uploaded.loaded()).toBe(3);
  expect(await uploaded.state()).toEqual({ file: 'new\nnewer\nnewest.csv', stored: 1 });
});
