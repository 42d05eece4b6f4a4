import { expect } from 'vitest';
import { rows } from '../../operation/fixture.ts';
import { fakeTest as test } from './sync-fixture.ts';

test('a folder in the place of a file replaces it, without a stated deletion, and keeps what is in it', async ({
  openFake,
}) => {
  const { fake, tree, sync, contents } = await openFake('dropbox');
  fake.pageSize = 1;
  tree.put('x', { text: 'file' });
  tree.put('xy', { text: 'sibling' });
  await sync();
  const before = tree.log.length;
  tree.replace('x', null);
  tree.put('x/b', { text: 'below' });
  // The folder may be reported after what is in it.
  tree.log.push(...tree.log.splice(before).reverse());
  expect(await sync()).toMatchObject({ full: false, addedFiles: 1, deletedFiles: 1 });
  expect(await contents()).toEqual({ 'x/b': 'below', xy: 'sibling' });
  tree.replace('x', 'file again');
  expect(await sync()).toMatchObject({ full: false, addedFiles: 1, deletedFiles: 1 });
  expect(await contents()).toEqual({ x: 'file again', xy: 'sibling' });
});

test.for([
  ['a Greek name', 'ΟΔΟΣ/x', 'οδοσ'],
  ['a Turkish name', 'İzmir/x', 'İZMIR'],
])('the deletion of %s in another case is one of its files', async ([, path, deleted], { openFake }) => {
  const { tree, sync, contents } = await openFake('dropbox');
  tree.put(path!, { text: '1' });
  await sync();
  const folder = tree.at(path!.split('/')[0]!);
  tree.log.push({ type: 'delete', item: { ...folder, isDeleted: true, isTrashed: true }, oldPath: deleted! });
  expect(await sync()).toMatchObject({ full: false, deletedFiles: 1 });
  expect(await contents()).toEqual({});
});

test('files of earlier versions are compared as the drive does after a full sync', async ({ openFake, world }) => {
  const { tree, sync, libraryId } = await openFake('dropbox');
  tree.put('ΟΔΟΣ', { text: '1' });
  await sync();
  const keys = () => rows(world, `select path_key from dws.library_file where library_id = $1`, [libraryId]);
  await rows(world, `update dws.library_file set path_key = 'οδος' where library_id = $1`, [libraryId]);
  await rows(world, `update dws.library_sync set valid_for = '' where library_id = $1`, [libraryId]);
  expect(await sync()).toMatchObject({ full: true, addedFiles: 0, deletedFiles: 0 });
  expect(await keys()).toEqual([{ path_key: 'οδοσ' }]);
});
