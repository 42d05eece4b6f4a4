import { describe, expect } from 'vitest';
import { DriveRefusal } from '../../../src/adapters/drives/drive-refusal.ts';
import { conflict, unavailable } from '../../../src/core/errors.ts';
import { Interrupted } from '../../../src/operations/handler.ts';
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

  test('because the drive stops sending files, ends soon', async ({ synced }) => {
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

describe('a sync that is interrupted', () => {
  test('ends after three attempts without any progress', async ({ synced }) => {
    const { drive, sync } = synced;
    for (const name of ['a', 'b', 'c', 'd']) drive.put(name, name);
    drive.onList = (call) => {
      if (call > 1) throw new Interrupted('The worker ends');
    };
    const ended = { code: 'INTERNAL', message: expect.stringContaining('3 times without any progress') };
    await expect(sync()).rejects.toMatchObject(ended);
    // The first attempt has stored a page.
    expect(drive.calls.list).toBe(4);
    await expect(sync({ dryRun: true })).rejects.toMatchObject(ended);
    drive.onList = () => {};
    expect(await sync()).toMatchObject({ syncedFiles: 4, addedFiles: 4 });
  });

  test('is continued as often as it stores something', async ({ synced }) => {
    const { drive, sync } = synced;
    for (let n = 0; n < 20; n += 1) drive.put(`${n}`, `${n}`);
    drive.onList = (call) => {
      if (call % 2 === 0) throw new Interrupted('The worker ends');
    };
    expect(await sync()).toMatchObject({ syncedFiles: 20, addedFiles: 20 });
    expect(drive.calls.list).toBe(19);
  });
});

test('a sync fails immediately if the drive refuses the renewed token too', async ({ synced }) => {
  const { drive, sync, contents } = synced;
  for (let n = 0; n < 50; n += 1) drive.put(`${n}`, `${n}`);
  drive.pageSize = 100;
  drive.onContents = () => {
    throw new DriveRefusal('The host responded with 401', 401, '', null);
  };
  await expect(sync()).rejects.toMatchObject({ code: 'UPSTREAM_FAILED', message: 'The host responded with 401' });
  expect(drive.calls.contents).toBeLessThanOrEqual(4);
  drive.onContents = () => undefined;
  expect(await sync()).toMatchObject({ addedFiles: 50, errorCount: 0 });
  expect(Object.keys(await contents())).toHaveLength(50);
});
