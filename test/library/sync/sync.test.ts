import { describe, expect } from 'vitest';
import { unavailable } from '../../../src/core/errors.ts';
import { wait } from '../../../src/services/operation/operation-wait.ts';
import { rows } from '../../operation/fixture.ts';
import { test, type SyncedWorld } from './sync-fixture.ts';

/** Counts of a sync, as `syncedFiles, addedFiles, updatedFiles, deletedFiles, skippedFiles, errorCount`. */
const counts = async (sync: ReturnType<SyncedWorld['sync']>) => {
  const { syncedFiles, addedFiles, updatedFiles, deletedFiles, skippedFiles, errorCount } = await sync;
  return [syncedFiles, addedFiles, updatedFiles, deletedFiles, skippedFiles, errorCount];
};

const totals = async ({ world, libraryId }: SyncedWorld) => {
  const [row] = await rows(
    world,
    `select l.file_count, l.bytes, count(f.id)::int as files,
      coalesce(sum(f.size) filter (where f.stored_file_id is not null), 0)::bigint as sum,
      (select count(*)::int from dws.stored_file) as stored
    from dws.library l left join dws.library_file f on f.library_id = l.id
    where l.id = $1 group by l.id`,
    [libraryId],
  );
  return row!;
};

describe('a full sync', () => {
  test('stores every file of the drive with its path and bytes', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    drive.put('a.txt', 'A');
    drive.put('x/b.txt', 'BB');
    drive.put('x/y/c.txt', 'CCC');
    expect(await sync()).toEqual({
      syncedFiles: 3,
      addedFiles: 3,
      updatedFiles: 0,
      deletedFiles: 0,
      skippedFiles: 0,
      errors: [],
      errorCount: 0,
      full: true,
      dryRun: false,
      changes: null,
    });
    expect(await contents()).toEqual({ 'a.txt': 'A', 'x/b.txt': 'BB', 'x/y/c.txt': 'CCC' });
    expect(await totals(synced)).toEqual({ file_count: 3, bytes: 6, files: 3, sum: 6, stored: 3 });
  });

  test('downloads nothing that the library has, and deletes what the listing did not show', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    drive.put('a.txt', 'A');
    const b = drive.put('b.txt', 'B');
    await sync();
    drive.remove(b);
    drive.put('c.txt', 'C');
    drive.downloads.length = 0;
    expect(await counts(sync({ full: true }))).toEqual([2, 1, 0, 1, 0, 0]);
    expect(drive.downloads).toEqual([expect.stringContaining('c.txt')]);
    expect(await contents()).toEqual({ 'a.txt': 'A', 'c.txt': 'C' });
  });

  test('deletes nothing when the listing breaks, and continues it', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    for (const name of ['a', 'b', 'c', 'd', 'e']) drive.put(name, name);
    await sync();
    const before = drive.calls.list;
    drive.onList = (call) => {
      if (call === before + 2) throw unavailable('The drive is away');
    };
    await expect(sync({ full: true })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(Object.keys(await contents())).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(await counts(sync())).toEqual([5, 0, 0, 0, 0, 0]);
    // The first page of the listing was not read again.
    expect(drive.calls.list).toBe(before + 4);
  });

  test('follows another account, changed settings and a lost cursor', async ({ synced }) => {
    const { drive, sync, account, setSettings } = synced;
    drive.put('a.txt', 'A');
    drive.put('x/b.md', 'B');
    expect((await sync()).full).toBe(true);
    expect((await sync()).full).toBe(false);
    account.id = 'two';
    expect((await sync()).full).toBe(true);
    await setSettings({ extensions: ['txt'] });
    const changed = sync();
    expect((await changed).full).toBe(true);
    expect(await counts(changed)).toEqual([1, 0, 0, 1, 0, 0]);
    drive.loseCursors();
    expect((await sync()).full).toBe(true);
    await setSettings({ rootId: drive.folder('x'), extensions: [] });
    expect(await counts(sync())).toEqual([1, 1, 0, 1, 0, 0]);
    expect(await synced.contents()).toEqual({ 'b.md': 'B' });
  });

  test('with purge deletes all files once a first page came, and counts them', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    drive.put('a.txt', 'A');
    drive.put('b.txt', 'B');
    await sync();
    const before = drive.calls.list;
    drive.onList = (call) => {
      if (call === before + 1) throw unavailable('The drive is away');
    };
    await expect(sync({ purge: true })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(Object.keys(await contents())).toEqual(['a.txt', 'b.txt']);
    // Another sync does not do what this one was asked for.
    expect(await counts(sync())).toEqual([2, 0, 0, 0, 0, 0]);
    expect(await counts(sync({ purge: true }))).toEqual([2, 2, 0, 2, 0, 0]);
    expect(drive.downloads).toHaveLength(4);
    expect(await totals(synced)).toEqual({ file_count: 2, bytes: 2, files: 2, sum: 2, stored: 2 });
  });
});

describe('a sync of changes', () => {
  test('needs one call and no download if nothing has changed', async ({ synced }) => {
    const { drive, sync } = synced;
    drive.put('x/a.txt', 'A');
    await sync();
    const before = { ...drive.calls };
    expect(await counts(sync())).toEqual([1, 0, 0, 0, 0, 0]);
    expect(drive.calls).toEqual({ ...before, changes: before.changes + 1 });
  });

  test('counts additions, new contents, moves and deletions exactly', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    const ids = ['a', 'b', 'c', 'd'].map((name) => drive.put(`x/${name}`, name));
    await sync();
    drive.put('x/a', 'new');
    drive.move(ids[1]!, { name: 'renamed' });
    drive.move(ids[2]!, { parentId: drive.folder('y') });
    drive.remove(ids[3]!);
    drive.put('y/e', 'E');
    drive.downloads.length = 0;
    expect(await counts(sync())).toEqual([4, 1, 3, 1, 0, 0]);
    expect(drive.downloads).toHaveLength(2);
    expect(await contents()).toEqual({ 'x/a': 'new', 'x/renamed': 'b', 'y/c': 'c', 'y/e': 'E' });
    expect(await totals(synced)).toEqual({ file_count: 4, bytes: 6, files: 4, sum: 6, stored: 4 });
  });

  test('moves all below a folder without a download', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    drive.put('x/y/a', 'A');
    drive.put('x/b', 'B');
    drive.put('c', 'C');
    await sync();
    drive.downloads.length = 0;
    drive.move(drive.folder('x'), { name: 'z' });
    expect(await counts(sync())).toEqual([3, 0, 2, 0, 0, 0]);
    expect(drive.downloads).toEqual([]);
    expect(await contents()).toEqual({ c: 'C', 'z/b': 'B', 'z/y/a': 'A' });
  });

  test('follows folders that leave the root, come back or are deleted', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    drive.put('x/y/a', 'A');
    drive.put('b', 'B');
    await sync();
    const x = drive.folder('x');
    drive.move(x, { parentId: null });
    expect(await counts(sync())).toEqual([1, 0, 0, 1, 0, 0]);
    drive.move(x, { parentId: 'root' });
    expect(await counts(sync())).toEqual([2, 1, 0, 0, 0, 0]);
    expect(await contents()).toEqual({ b: 'B', 'x/y/a': 'A' });
    drive.remove(x);
    expect(await counts(sync())).toEqual([1, 0, 0, 1, 0, 0]);
    expect(await contents()).toEqual({ b: 'B' });
    expect(await totals(synced)).toEqual({ file_count: 1, bytes: 1, files: 1, sum: 1, stored: 1 });
  });

  test('takes the last of many reports, and ignores what came and went', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    const a = drive.put('a', '1');
    await sync();
    for (const text of ['2', '3', '4']) drive.put('a', text);
    drive.remove(drive.put('gone', 'x'));
    drive.touch(a);
    drive.downloads.length = 0;
    expect(await counts(sync())).toEqual([1, 0, 1, 0, 0, 0]);
    expect(drive.downloads).toEqual([a]);
    expect(await contents()).toEqual({ a: '4' });
  });

  test('tries files again that failed, although the drive does not name them', async ({ synced }) => {
    const { drive, sync, contents, world, libraryId } = synced;
    const a = drive.put('a', 'A');
    drive.put('b', 'B');
    drive.onContents = (id) => {
      if (id === a) throw unavailable('Busy');
      return undefined;
    };
    const first = await sync();
    expect(first).toMatchObject({ syncedFiles: 1, addedFiles: 1, errorCount: 1 });
    expect(first.errors).toEqual([{ fileId: a, path: 'a', code: 'UNAVAILABLE', message: 'Busy' }]);
    const [row] = await rows(
      world,
      `select status, reason from dws.library_file where library_id = $1 and file_id = $2`,
      [libraryId, a],
    );
    expect(row).toEqual({ status: 'failed', reason: 'Busy' });
    drive.onContents = () => undefined;
    expect(await counts(sync())).toEqual([2, 1, 0, 0, 0, 0]);
    expect(await contents()).toEqual({ a: 'A', b: 'B' });
    expect((await sync()).errorCount).toBe(0);
  });
});

describe('files that are not kept', () => {
  test('are skipped with a reason if they are too large or cannot be read', async ({ synced }) => {
    const { drive, sync, contents, setSettings, world, libraryId } = synced;
    await setSettings({ maxFileBytes: 3 });
    drive.put('form', '', { unreadable: 'a form' });
    drive.put('large', 'four');
    drive.put('unknown size', 'four', { hasHash: false });
    drive.put('small', 'ok');
    expect(await counts(sync())).toEqual([1, 1, 0, 0, 3, 0]);
    expect(await contents()).toEqual({ small: 'ok' });
    const skipped = await rows(
      world,
      `select path, reason from dws.library_file where library_id = $1 and status = 'skipped' order by path`,
      [libraryId],
    );
    expect(skipped).toEqual([
      { path: 'form', reason: 'a form' },
      { path: 'large', reason: 'The file is larger than 3 B' },
      { path: 'unknown size', reason: 'The file is too large' },
    ]);
    drive.put('large', 'now');
    expect(await counts(sync())).toEqual([2, 1, 0, 0, 2, 0]);
    drive.put('large', 'again');
    expect(await counts(sync())).toEqual([1, 0, 1, 0, 3, 0]);
    expect(await totals(synced)).toEqual({ file_count: 4, bytes: 2, files: 4, sum: 2, stored: 1 });
  });
});

describe('a dry run', () => {
  test('states what a sync would change, and stores nothing', async ({ synced }) => {
    const { drive, sync, contents, world } = synced;
    const a = drive.put('x/a', 'A');
    const b = drive.put('x/b', 'B');
    const plan = await sync({ dryRun: true });
    expect(plan).toMatchObject({ dryRun: true, full: true, syncedFiles: 2, addedFiles: 2 });
    expect(await contents()).toEqual({});
    expect(await rows(world, 'select from dws.library_sync')).toEqual([]);
    await sync();
    drive.remove(b);
    drive.move(drive.folder('x'), { name: 'z' });
    const c = drive.put('z/c', 'CC');
    drive.downloads.length = 0;
    const changes = [
      { action: 'add', fileId: c, path: 'z/c', size: 2 },
      { action: 'update', fileId: a, path: 'z/a', size: 1 },
      { action: 'delete', fileId: b, path: 'x/b', size: 1 },
    ];
    const flags = { syncedFiles: 2, addedFiles: 1, updatedFiles: 1, deletedFiles: 1 };
    expect(await sync({ dryRun: true })).toMatchObject({ ...flags, changes, full: false });
    expect(drive.downloads).toEqual([]);
    expect(Object.keys(await contents())).toEqual(['x/a', 'x/b']);
    expect(await sync({ dryRun: true, purge: true })).toMatchObject({ syncedFiles: 2, addedFiles: 2, deletedFiles: 2 });
    expect(await sync()).toMatchObject({ ...flags, changes: null });
  });
});

describe('the quota of the tenant', () => {
  test('fails the sync with 413, and what was stored stays', async ({ synced }) => {
    const { drive, sync, contents, world } = synced;
    (world.platform.config as { TENANT_QUOTA_BYTES: number }).TENANT_QUOTA_BYTES = 10;
    drive.put('a', '123456');
    await sync();
    drive.put('b', '123456');
    await expect(sync()).rejects.toMatchObject({ status: 413 });
    expect(await contents()).toEqual({ a: '123456' });
    drive.put('a', '1');
    expect(await counts(sync())).toEqual([2, 1, 1, 0, 0, 0]);
    expect(await contents()).toEqual({ a: '1', b: '123456' });
  });
});

describe('concurrent syncs', () => {
  test('of one library run one after the other, and join if their flags are identical', async ({ synced }) => {
    const { drive, start, ctx } = synced;
    const listed = Promise.withResolvers<void>();
    const free = Promise.withResolvers<void>();
    drive.put('a', 'A');
    drive.onList = () => {
      listed.resolve();
      return free.promise;
    };
    const first = await start();
    await listed.promise;
    const second = await start();
    const third = await start();
    free.resolve();
    const results = await Promise.all([first, second, third].map((id) => wait(ctx, id)));
    expect(results.map(({ result }) => (result as { addedFiles: number }).addedFiles)).toEqual([1, 0, 0]);
    // The second and the third are one sync.
    expect(drive.calls.changes).toBe(2);
  });
});
