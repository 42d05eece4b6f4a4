import { expect } from 'vitest';
import type { LibrarySync } from '../../../entities/library-sync.ts';
import { sweepFiles } from '../../../src/operations/janitor.ts';
import { wait } from '../../../src/services/operation/operation-wait.ts';
import { startDriveFake } from '../../../tools/drive-fake.ts';
import { eventually, rows, test, type World } from '../../operation/fixture.ts';
import { connectFake, createLibrary, readContents, startSync } from './sync-fixture.ts';

const KILLS = 20;
const FILES = 240;
/** Concurrent downloads of a sync. */
const PLACES = 4;
/**
 * Number of calls between the start of a worker and its end: with one more than the concurrent downloads, one of them
 * was stored. A sync ends after three workers that stored nothing.
 */
const MIN_CALLS = PLACES + 1;
const MAX_CALLS = 16;

test(
  `a sync whose worker is killed ${KILLS} times loses and doubles nothing`,
  { timeout: 400_000 },
  async ({ world }) => {
    const fake = await startDriveFake('google-drive');
    fake.pageSize = 20;
    const expected: Record<string, string> = {};
    for (let n = 0; n < FILES; n += 1) {
      const path = `folder ${n % 7}/file ${n}.txt`;
      expected[path] = `contents of ${n}`;
      fake.tree.put(path, { text: expected[path] });
    }
    const ctx = await world.caller();
    const libraryId = await createLibrary(world, ctx);
    await connectFake(world, ctx, libraryId, fake);
    const id = await startSync(ctx, libraryId);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const called = Promise.withResolvers<void>();
      // Each number up to the maximum, in a fixed order: these are 11, which 7 does not divide.
      let callsLeft = MIN_CALLS + ((7 * kill) % (MAX_CALLS - MIN_CALLS));
      fake.onCall = () => {
        callsLeft -= 1;
        if (callsLeft === 0) called.resolve();
      };
      const worker = await world.startWorkerProcess('real');
      await called.promise;
      await worker.kill('SIGKILL');
    }
    fake.onCall = () => {};
    await world.startWorkerProcess('real');
    const result = (await wait(ctx, id)).result as unknown as LibrarySync;
    const downloads = fake.calls['contents'] ?? 0;
    expect(result).toMatchObject({
      syncedFiles: FILES,
      addedFiles: FILES,
      updatedFiles: 0,
      deletedFiles: 0,
      errors: [],
    });
    expect(await readContents(world, libraryId)).toEqual(expected);
    const [library] = await rows(world, `select file_count from dws.library where id = $1`, [libraryId]);
    expect(library).toEqual({ file_count: FILES });
    expect(downloads).toBeGreaterThanOrEqual(FILES);
    expect(downloads).toBeLessThanOrEqual(FILES + KILLS * PLACES);
    await sweepFiles(world.platform, 0);
    expect(await world.platform.files.list()).toHaveLength(FILES);
    await fake.close();
  },
);

/** Returns the number of files that were saved in full but have no stored row. */
async function countUnstored({ platform }: World): Promise<number> {
  const stored = new Set(
    (await platform.system.query<{ id: string }>({ text: 'select id from dws.stored_file' })).map(({ id }) => id),
  );
  const unstored = (await platform.files.list()).filter(({ id }) => !stored.has(id));
  const contents = await Promise.all(unstored.map(({ id }) => platform.files.read(id)));
  return contents.filter((bytes) => bytes !== undefined).length;
}

test('what a worker had downloaded before it was killed is not downloaded again', async ({ world }) => {
  const fake = await startDriveFake('google-drive');
  for (let n = 0; n < 20; n += 1) fake.tree.put(`${n}.txt`, { text: `contents of ${n}` });
  const ctx = await world.caller();
  const libraryId = await createLibrary(world, ctx);
  await connectFake(world, ctx, libraryId, fake);
  const begun = Promise.withResolvers<void>();
  fake.onCall = (kind) => {
    if (kind === 'contents') begun.resolve();
  };
  const id = await startSync(ctx, libraryId);
  const worker = await world.startWorkerProcess('real');
  await begun.promise;
  await world.platform.system.transaction(async (query) => {
    // From now on the worker cannot store anything.
    await query({ text: `select id from dws.library where id = $1 for update`, values: [libraryId] });
    await eventually(async () => (await countUnstored(world)) === PLACES);
    await worker.kill('SIGKILL');
  });
  const before = fake.calls['contents']!;
  await world.startWorkerProcess('real');
  expect((await wait(ctx, id)).result).toMatchObject({ syncedFiles: 20, addedFiles: 20, errorCount: 0 });
  expect(before).toBeGreaterThanOrEqual(PLACES);
  expect(fake.calls['contents']).toBe(20);
  const expected = Array.from({ length: 20 }, (_, n) => [`${n}.txt`, `contents of ${n}`]);
  expect(await readContents(world, libraryId)).toEqual(Object.fromEntries(expected));
  await sweepFiles(world.platform, 0);
  expect(await world.platform.files.list()).toHaveLength(20);
  await fake.close();
});
