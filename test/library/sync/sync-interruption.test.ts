import { describe, expect } from 'vitest';
import { conflict, unavailable } from '../../../src/core/errors.ts';
import { wait } from '../../../src/services/operation/operation-wait.ts';
import * as operations from '../../../src/services/operation/operation.ts';
import { rows } from '../../operation/fixture.ts';
import { test } from './sync-fixture.ts';

/** Yields some bytes, then waits for ever. */
async function* stuck(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('some');
  await new Promise<never>(() => {});
}

describe('a cancelled sync', () => {
  test('ends in the middle of a download, leaves no bytes of it, and is continued', async ({ synced }) => {
    const { drive, start, sync, ctx, contents, world } = synced;
    const reached = Promise.withResolvers<void>();
    for (let n = 0; n < 3; n += 1) drive.put(`${n}`, `${n}`);
    const last = drive.put('z', 'Z');
    drive.onContents = (id) => {
      if (id !== last) return undefined;
      reached.resolve();
      return stuck();
    };
    const id = await start();
    await reached.promise;
    await operations.cancel(ctx, id);
    await expect(wait(ctx, id)).rejects.toMatchObject({ code: 'CANCELLED' });
    const stored = Object.keys(await contents());
    expect(await world.platform.files.list()).toHaveLength(stored.length);
    drive.onContents = () => undefined;
    const listed = drive.calls.list;
    expect(await sync()).toMatchObject({ syncedFiles: 4, addedFiles: 4 - stored.length, full: true });
    expect(drive.calls.list).toBe(listed);
  });
});

describe('a sync that fails', () => {
  test('is recorded in lastSync, and stops when the connection has ended', async ({ synced }) => {
    const { drive, sync, world, libraryId } = synced;
    drive.put('a', 'A');
    await sync();
    drive.put('b', 'B');
    drive.onContents = () => {
      throw conflict('The connection has expired: authorize it again');
    };
    await expect(sync()).rejects.toMatchObject({ code: 'CONFLICT' });
    const [library] = await rows(world, `select last_sync, last_sync_at from dws.library where id = $1`, [libraryId]);
    expect(library!['last_sync']).toMatchObject({
      success: false,
      code: 'CONFLICT',
      error: 'The connection has expired: authorize it again',
    });
    expect(library!['last_sync_at']).not.toBeNull();
  });

  test('because the drive sends no file any more, ends soon', async ({ synced }) => {
    const { drive, sync } = synced;
    for (let n = 0; n < 200; n += 1) drive.put(`${n}`, `${n}`);
    drive.pageSize = 100;
    drive.onContents = () => {
      throw unavailable('Busy');
    };
    await expect(sync()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(drive.calls.contents).toBeLessThan(40);
    drive.onContents = () => undefined;
    expect(await sync()).toMatchObject({ syncedFiles: 200, addedFiles: 200, errorCount: 0 });
  });
});
