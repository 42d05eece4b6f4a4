import { describe, expect } from 'vitest';
import { CursorLost } from '../../../src/core/drive.ts';
import { unavailable } from '../../../src/core/errors.ts';
import { rows } from '../../operation/fixture.ts';
import { runSql } from '../../support/run-sql.ts';
import { test, type SyncedWorld } from './sync-fixture.ts';

/** Counts the statements that compute the paths of folders from now on. Returns the function that reads their number. */
async function countRefreshes({ world }: SyncedWorld): Promise<() => Promise<number>> {
  await runSql(
    world.url,
    `create table dws.refreshed (n integer);
    grant all on dws.refreshed to public;
    create function dws.count_refresh() returns trigger language plpgsql as $$
    begin
      insert into dws.refreshed values (1);
      return null;
    end $$;
    create trigger count_refresh after update of path on dws.library_sync_folder
      for each statement execute function dws.count_refresh();`,
  );
  return async () => {
    const [counted] = await rows(world, 'select count(*)::int as statements from dws.refreshed');
    return counted!['statements'] as number;
  };
}

/** Lets a folder with eight files, on four pages, come into the root. Returns the paths of the files. */
async function moveIn({ drive, sync }: SyncedWorld): Promise<string[]> {
  const names = Array.from({ length: 8 }, (_, index) => `${index}`);
  const folderId = drive.folder('x');
  drive.move(folderId, { parentId: null });
  await sync();
  const fileIds = names.map((name) => drive.put(name, name));
  for (const id of fileIds) drive.move(id, { parentId: folderId });
  await sync();
  drive.move(folderId, { parentId: 'root' });
  return names.map((name) => `x/${name}`);
}

describe('folders that come into the root', () => {
  test('are listed once each, and their paths are computed once a round', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    drive.pageSize = 1000;
    drive.put('kept', 'K');
    await sync();
    const refreshes = await countRefreshes(synced);
    const listed = drive.calls.list;
    for (let n = 0; n < 60; n += 1) drive.put(`new ${n}/below/f`, `${n}`);
    expect(await sync()).toMatchObject({ addedFiles: 60, syncedFiles: 61, full: false });
    expect(Object.keys(await contents())).toHaveLength(61);
    // Folders below them are listed with them.
    expect(drive.calls.list - listed).toBe(60);
    expect(await refreshes()).toBe(2);
  });

  test('are listed from the page at which a sync has failed', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    const paths = await moveIn(synced);
    const before = drive.calls.list;
    drive.onList = (call) => {
      if (call === before + 3) throw unavailable('The drive is away');
    };
    await expect(sync()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await sync()).toMatchObject({ addedFiles: 8, full: false });
    expect(Object.keys(await contents())).toEqual(paths);
    // The third page is the only one that was asked for twice.
    expect(drive.calls.list - before).toBe(5);
  });

  test('are listed again, and nothing else, if the drive has forgotten the page', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    const paths = await moveIn(synced);
    const before = drive.calls.list;
    drive.onList = (call) => {
      if (call === before + 3) throw unavailable('The drive is away');
      if (call === before + 4) throw new CursorLost();
    };
    await expect(sync()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await sync()).toMatchObject({ addedFiles: 8, full: false });
    expect(Object.keys(await contents())).toEqual(paths);
    expect(drive.calls.list - before).toBe(8);
  });
});
