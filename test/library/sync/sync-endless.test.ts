import { expect } from 'vitest';
import { fakeTest as test } from './sync-fixture.ts';

const ENDLESS = {
  code: 'UPSTREAM_FAILED',
  message: expect.stringMatching(/^The drive has sent 50\d pages without items, and names another one$/),
};

test.for(['google-drive', 'dropbox', 'onedrive', 'onedrive-business', 'box'])(
  'a listing of %s that always names another page without items fails clearly',
  async (provider, { openFake }) => {
    const { fake, tree, sync, contents, follow } = await openFake(provider);
    tree.put('in/a', { text: '1' });
    await follow('in');
    fake.quirks.add('endless-pages');
    await expect(sync()).rejects.toMatchObject(ENDLESS);
    expect(fake.calls.list).toBeLessThan(1000);
    fake.quirks.clear();
    expect(await sync()).toMatchObject({ addedFiles: 1 });
    expect(await contents()).toEqual({ a: '1' });
  },
);

test.for(['google-drive', 'dropbox', 'onedrive'])(
  'changes of %s that always name another page without items fail clearly',
  async (provider, { openFake }) => {
    const { fake, tree, sync, contents } = await openFake(provider);
    await sync();
    tree.put('a', { text: '1' });
    fake.quirks.add('endless-pages');
    await expect(sync()).rejects.toMatchObject(ENDLESS);
    fake.quirks.clear();
    expect(await sync()).toMatchObject({ full: false, addedFiles: 1 });
    expect(await contents()).toEqual({ a: '1' });
  },
);

test('a tree of more empty folders than pages without items may follow each other is synced', async ({ openFake }) => {
  const { tree, sync, contents, follow } = await openFake('box');
  for (let n = 0; n < 600; n += 1) tree.folder(`in/${n}`);
  tree.put('in/a', { text: '1' });
  await follow('in');
  expect(await sync()).toMatchObject({ addedFiles: 1 });
  expect(await contents()).toEqual({ a: '1' });
});
