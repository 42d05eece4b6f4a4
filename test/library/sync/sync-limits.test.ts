import { randomBytes } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { DriveItem } from '../../../src/core/drive.ts';
import { newId } from '../../../src/core/id.ts';
import { librarySync } from '../../../src/operations/library-sync.ts';
import { wait } from '../../../src/services/operation/operation-wait.ts';
import * as operations from '../../../src/services/operation/operation.ts';
import { forgetStorage } from '../../../src/services/resource/storage-limit.ts';
import { rows, test as base, type World } from '../../operation/fixture.ts';
import { limitStatements } from '../../support/limit-statements.ts';
import { ScriptedDrive } from '../../support/scripted-drive.ts';
import { createLibrary, openScripted, startSync, test } from './sync-fixture.ts';

const CHUNK = 1000;

/** Adds files with contents to a folder of a library, without their bytes. */
async function addFiles(world: World, libraryId: string, folderId: string, folder: string, count: number) {
  await rows(
    world,
    `with files as (
      insert into dws.stored_file (id, tenant_id, filename, content_type, size, sha256)
      select gen_random_uuid(), l.tenant_id, 'f' || n, 'text/plain', 0, 'x'
      from dws.library l, generate_series(1, $4::int) n
      where l.id = $1
      returning id, tenant_id, filename
    ),
    counted as (update dws.library set file_count = file_count + $4 where id = $1)
    insert into dws.library_file (id, tenant_id, library_id, file_id, name, path, content_type, size, hash, revision,
      status, parent_id, stored_file_id)
    select gen_random_uuid(), tenant_id, $1, filename, filename, $3 || '/' || filename, 'text/plain', 0, 'x', '1', 'synced',
      $2, id
    from files`,
    [libraryId, folderId, folder, count],
  );
}

describe('a library of many files', () => {
  test('follows the move of a folder in parts, and counts them exactly', async ({ synced }) => {
    const { drive, sync, world, libraryId } = synced;
    drive.put('x/a', 'A');
    await sync();
    await addFiles(world, libraryId, drive.folder('x'), 'x', 2 * CHUNK + 5);
    await limitStatements(world.url, 'library_file', CHUNK);
    drive.move(drive.folder('x'), { name: 'y' });
    const dry = await sync({ dryRun: true });
    expect(dry).toMatchObject({ updatedFiles: 2 * CHUNK + 6 });
    expect(await sync()).toMatchObject({ updatedFiles: 2 * CHUNK + 6, syncedFiles: 2 * CHUNK + 6 });
    const paths = await rows(
      world,
      `select count(*)::int as files from dws.library_file where library_id = $1 and path = 'y/' || name`,
      [libraryId],
    );
    expect(paths).toEqual([{ files: 2 * CHUNK + 6 }]);
  });

  test('is purged in parts, and counts them exactly', async ({ synced }) => {
    const { drive, sync, contents, world, libraryId } = synced;
    drive.put('x/a', 'A');
    await sync();
    await addFiles(world, libraryId, drive.folder('x'), 'x', 2 * CHUNK);
    await limitStatements(world.url, 'library_file', CHUNK);
    const result = { addedFiles: 1, deletedFiles: 2 * CHUNK + 1, syncedFiles: 1 };
    expect(await sync({ purge: true, dryRun: true })).toMatchObject(result);
    expect(await sync({ purge: true })).toMatchObject(result);
    expect(await contents()).toEqual({ 'x/a': 'A' });
    const [library] = await rows(world, `select file_count from dws.library where id = $1`, [libraryId]);
    expect(library).toEqual({ file_count: 1 });
  });
});

/** Returns the files of a library by path, each with its status. */
const statuses = async (world: World, libraryId: string) => {
  const files = await rows(
    world,
    `select name, path, status, reason from dws.library_file where library_id = $1 order by path`,
    [libraryId],
  );
  return files as { name: string; path: string; status: string; reason: string | null }[];
};

/** A name that compresses badly. */
const longName = (length: number): string => randomBytes(length).toString('hex').slice(0, length);

describe('a text that is too long', () => {
  test('is not extended in paths of folders, whose files are skipped', async ({ synced }) => {
    const { drive, sync, world, libraryId } = synced;
    const [name, depth] = ['語'.repeat(250), 40];
    const chain = Array.from({ length: depth }, () => name);
    drive.pageSize = 1000;
    for (let i = 0; i < 50; i += 1) drive.folder([...chain, `e${i}`].join('/'));
    drive.put([...chain, 'e0', 'a.txt'].join('/'), 'A');
    expect(await sync()).toMatchObject({ syncedFiles: 0, skippedFiles: 1, errorCount: 0 });
    const start = `${name}/${name}/${name}`;
    const path = `${Buffer.from(start)
      .subarray(0, 1997)
      .toString()
      .replace(/\uFFFD$/, '')}…`;
    const reason = 'The path has more than 2000 bytes';
    expect(await statuses(world, libraryId)).toEqual([{ name: 'a.txt', path, status: 'skipped', reason }]);
    const lengths = await rows(
      world,
      `select octet_length(path) as bytes, count(*)::int as folders
      from dws.library_sync_folder where scope_id = $1 group by 1 order by 1`,
      [libraryId],
    );
    expect(lengths).toEqual([
      { bytes: 751, folders: 1 },
      { bytes: 1502, folders: 1 },
      { bytes: 2253, folders: depth - 2 + 50 },
    ]);
  });

  test('is cut in names, which keep their extensions', async ({ synced }) => {
    const { drive, sync, world, libraryId } = synced;
    drive.put(`${'x'.repeat(400)}.txt`, 'A');
    drive.put(`${'y'.repeat(254)}😀`, 'B');
    expect(await sync()).toMatchObject({ syncedFiles: 2, errorCount: 0 });
    expect((await statuses(world, libraryId)).map(({ name }) => name)).toEqual([
      `${'x'.repeat(251)}.txt`,
      'y'.repeat(254),
    ]);
  });

  test('is not the path of a synced file, until folders are moved', async ({ synced }) => {
    const { drive, sync, contents, world, libraryId } = synced;
    const folders = Array.from({ length: 12 }, () => longName(250));
    const long = folders.join('/');
    const fileId = drive.put(`${long}/a.txt`, 'A');
    drive.put('b.txt', 'B');
    const reason = 'The path has more than 2000 bytes';
    expect(await sync()).toMatchObject({ syncedFiles: 1, skippedFiles: 1, errorCount: 0 });
    const skipped = (await statuses(world, libraryId)).find(({ name }) => name === 'a.txt')!;
    expect(skipped).toEqual({ name: 'a.txt', path: `${long.slice(0, 1997)}…`, status: 'skipped', reason });
    const deepest = drive.folder(long);
    drive.move(deepest, { parentId: 'root' });
    expect(await sync({ dryRun: true })).toMatchObject({ syncedFiles: 2, skippedFiles: 0, addedFiles: 1 });
    expect(await sync()).toMatchObject({ syncedFiles: 2, skippedFiles: 0, addedFiles: 1 });
    expect(await contents()).toEqual({ 'b.txt': 'B', [`${folders.at(-1)}/a.txt`]: 'A' });
    drive.move(deepest, { parentId: drive.folder(folders.slice(0, -1).join('/')) });
    expect(await sync()).toMatchObject({ syncedFiles: 1, skippedFiles: 1, updatedFiles: 1 });
    expect(await contents()).toEqual({ 'b.txt': 'B' });
    expect(await sync()).toMatchObject({ syncedFiles: 1, skippedFiles: 1, updatedFiles: 0 });
    // A full listing does not show the file, whose path would be too long.
    drive.remove(fileId);
    expect(await sync({ full: true })).toMatchObject({ syncedFiles: 1, skippedFiles: 0 });
  });

  test('is not an id', async ({ synced }) => {
    const { drive, sync } = synced;
    const name = longName(600);
    drive.put(name, 'A');
    await expect(sync()).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      message: expect.stringContaining(`an id of more than 500 characters for "${name.slice(0, 100)}`),
    });
  });

  test('is not another text of an item: the sync fails with its name, and the files stay', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    drive.put('kept', 'A');
    await sync();
    const changes = drive.changes.bind(drive);
    const long = 'x'.repeat(100_001);
    const texts: [Partial<DriveItem>, string][] = [
      [{ contentType: long }, 'a media type of more than 255'],
      [{ hash: long }, 'a hash of more than 500'],
      [{ revision: long }, 'a revision of more than 500'],
      [{ url: `https://drive.test/${long}` }, 'an address of more than 10000'],
      [{ path: long }, 'a path of more than 100000'],
      [{ foldedPath: long }, 'a path of more than 100000'],
    ];
    for (const [text, message] of texts) {
      const id = drive.put('kept', 'B');
      drive.changes = async (...call) => {
        const { events, ...page } = await changes(...call);
        return {
          ...page,
          events: events.map((event) => ('item' in event ? { item: { ...event.item, ...text } } : event)),
        };
      };
      await expect(sync()).rejects.toMatchObject({
        code: 'UPSTREAM_FAILED',
        message: `The drive states ${message} characters for "kept" (${id})`,
      });
      expect(await contents()).toEqual({ kept: 'A' });
    }
    drive.changes = changes;
    await sync();
    expect(await contents()).toEqual({ kept: 'B' });
  });

  test('is not a chain of folders', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    drive.pageSize = 1000;
    const path = 'd/'.repeat(200);
    drive.put(`${path}kept`, 'A');
    drive.put(`${path}d/deeper`, 'B');
    expect(await sync()).toMatchObject({ syncedFiles: 1 });
    expect(await contents()).toEqual({ [`${path}kept`]: 'A' });
  });
});

test('a listing that does not end fails past a million items', async ({ synced }) => {
  const { drive, sync } = synced;
  const id = drive.put('a', 'A');
  const { events } = await drive.list(undefined, null, null);
  let calls = 0;
  drive.list = async () => {
    calls += 1;
    return { events: Array.from({ length: 300_000 }, () => events[0]!), cursor: String(calls), isLast: false };
  };
  const refused = { code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining('more than 1000000 items') };
  await expect(sync()).rejects.toMatchObject(refused);
  expect(calls).toBe(4);
  // The next sync continues where this one has ended.
  await expect(sync()).rejects.toMatchObject(refused);
  expect(calls).toBe(5);
  drive.list = async () => ({ events, cursor: '', isLast: true });
  expect(await sync({ full: true })).toMatchObject({ syncedFiles: 1 });
  expect(drive.downloads).toEqual([id]);
});

test('a listing ends once the tenant may store nothing more', async ({ synced }) => {
  const { drive, sync, world, ctx } = synced;
  const { platform } = world;
  const { tenantId } = ctx.viewer;
  const id = drive.put('a', 'A');
  const { events } = await drive.list(undefined, null, null);
  let calls = 0;
  drive.list = async () => {
    calls += 1;
    if (calls === 3) {
      platform.freeBytes = async () => 0;
      forgetStorage(platform, tenantId);
    }
    return { events, cursor: String(calls), isLast: calls === 20 };
  };
  await expect(sync()).rejects.toMatchObject({ status: 503, message: expect.stringContaining('disk is nearly full') });
  expect(calls).toBe(3);
  platform.freeBytes = async () => Infinity;
  forgetStorage(platform, tenantId);
  expect(await sync()).toMatchObject({ syncedFiles: 1 });
  expect([calls, drive.downloads]).toEqual([20, [id]]);
});

test('the quota is read again while files are downloaded', async ({ synced }) => {
  const { drive, sync, world, ctx } = synced;
  (world.platform.config as { TENANT_QUOTA_BYTES: number }).TENANT_QUOTA_BYTES = 1000;
  for (let n = 0; n < 20; n += 1) drive.put(`${n}`, '0123456789');
  let other: Promise<unknown> | undefined;
  drive.onContents = async () => {
    // Another library stores a file.
    other ??= rows(
      world,
      `insert into dws.stored_file (id, tenant_id, filename, content_type, size, sha256)
      values ($1, $2, 'f', 'text/plain', 900, 'x')`,
      [newId(), ctx.viewer.tenantId],
    );
    await other;
    return undefined;
  };
  await expect(sync()).rejects.toMatchObject({ status: 413 });
  const [used] = await rows(world, 'select sum(size)::int as size from dws.stored_file');
  expect(used!['size']).toBeGreaterThan(900);
  expect(used!['size']).toBeLessThanOrEqual(1000);
});

base('the libraries of one tenant leave half of the downloads to others', async ({ world }) => {
  const [ann, amy, bob] = [await world.caller(), await world.caller(), await world.caller(newId())];
  const libraryIds = [
    await createLibrary(world, ann, 'one'),
    await createLibrary(world, amy, 'two'),
    await createLibrary(world, bob),
  ];
  const drives = new Map(libraryIds.map((id) => [id, new ScriptedDrive()]));
  const [one, two, other] = [...drives.values()] as [ScriptedDrive, ScriptedDrive, ScriptedDrive];
  const isStuck = Promise.withResolvers<void>();
  const isListed = Promise.withResolvers<void>();
  for (const drive of [one, two])
    drive.onContents = async (_id, signal) => {
      if (one.calls.contents + two.calls.contents === 8) isStuck.resolve();
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
      return undefined;
    };
  two.onChanges = () => isListed.resolve();
  for (const drive of drives.values()) for (let n = 0; n < 8; n += 1) drive.put(`${n}`, `${n}`);
  await world.startWorker({
    'library.sync': librarySync(async (platform, { id }, signal) => openScripted(platform, drives.get(id)!, signal)),
  });
  const waiting = [await startSync(ann, libraryIds[0]!), await startSync(amy, libraryIds[1]!)];
  await Promise.all([isStuck.promise, isListed.promise]);
  const { result } = await wait(bob, await startSync(bob, libraryIds[2]!));
  expect(result).toMatchObject({ addedFiles: 8 });
  expect(other.calls.contents).toBe(8);
  expect([one.calls.contents, two.calls.contents]).toEqual([4, 4]);
  await operations.cancel(ann, waiting[0]!);
  await operations.cancel(amy, waiting[1]!);
});
