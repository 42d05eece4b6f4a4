import { expect } from 'vitest';
import { rows } from '../../operation/fixture.ts';
import { fakeTest as test } from './sync-fixture.ts';

test('a file in which Google finds malware is skipped, and not downloaded again by each sync', async ({
  openFake,
  world,
}) => {
  const { fake, tree, sync, libraryId } = await openFake('google-drive');
  tree.put('good', { text: '1' });
  tree.put('bad', { text: '2' });
  expect(await sync()).toMatchObject({ addedFiles: 2, errors: [] });
  tree.put('bad', { text: '3' }).special = 'malware';
  expect(await sync()).toMatchObject({ syncedFiles: 1, skippedFiles: 1, errors: [] });
  const files = await rows(
    world,
    `select path, status, reason, stored_file_id is not null as "hasContents"
    from dws.library_file where library_id = $1 order by path`,
    [libraryId],
  );
  expect(files).toEqual([
    { path: 'bad', status: 'skipped', reason: 'Google found malware or spam in it', hasContents: false },
    { path: 'good', status: 'synced', reason: null, hasContents: true },
  ]);
  const downloads = fake.calls.contents;
  expect(await sync()).toMatchObject({ syncedFiles: 1, skippedFiles: 1, errors: [] });
  expect(fake.calls.contents).toBe(downloads);
});
