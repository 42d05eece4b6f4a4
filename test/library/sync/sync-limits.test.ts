import { describe, expect } from 'vitest';
import { rows, type World } from '../../operation/fixture.ts';
import { test } from './sync-fixture.ts';

const CHUNK = 1000;

/** Refuses statements that change more files than a part has. */
async function limitStatements(world: World): Promise<void> {
  await rows(
    world,
    `create function dws.check_part() returns trigger language plpgsql as $$
    begin
      if (select count(*) from changed) > ${CHUNK} then raise 'More files than a part has'; end if;
      return null;
    end $$`,
  );
  for (const [event, table] of [
    ['update', 'new'],
    ['delete', 'old'],
  ])
    await rows(
      world,
      `create trigger check_part_${event} after ${event} on dws.library_file
      referencing ${table} table as changed for each statement execute function dws.check_part()`,
    );
}

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
    await limitStatements(world);
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
    await limitStatements(world);
    const result = { addedFiles: 1, deletedFiles: 2 * CHUNK + 1, syncedFiles: 1 };
    expect(await sync({ purge: true, dryRun: true })).toMatchObject(result);
    expect(await sync({ purge: true })).toMatchObject(result);
    expect(await contents()).toEqual({ 'x/a': 'A' });
    const [library] = await rows(world, `select file_count from dws.library where id = $1`, [libraryId]);
    expect(library).toEqual({ file_count: 1 });
  });
});
