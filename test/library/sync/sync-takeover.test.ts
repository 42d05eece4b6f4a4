import { randomInt } from 'node:crypto';
import { expect } from 'vitest';
import type { LibrarySync } from '../../../entities/library-sync.ts';
import { sweepFiles } from '../../../src/operations/janitor.ts';
import { wait } from '../../../src/services/operation/operation-wait.ts';
import { startDriveFake } from '../../../tools/drive-fake.ts';
import { rows, test } from '../../operation/fixture.ts';
import { connectFake, createLibrary, readContents, startSync } from './sync-fixture.ts';

const KILLS = 20;
const FILES = 240;
/** Downloads of a sync at once. */
const PLACES = 4;
/**
 * Number of calls between the start of a worker and its end: with one more than the downloads at once, one of them was
 * stored. A sync ends after three workers that stored nothing.
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
      let callsLeft = randomInt(MIN_CALLS, MAX_CALLS);
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
