import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { filesOf } from '../../src/server/backup/links.ts';
import { getPicture, pictureForm, uploadPart } from '../support/avatar-fixture.ts';
import { expectError, expectStatus } from '../support/expect.ts';
import { BLUE, pngOf, RED, svgOf } from '../support/picture-files.ts';
import { readMetric } from '../support/read-metric.ts';
import { systemQuery } from '../support/system-query.ts';
import { storedFiles, withService } from '../support/upload-form.ts';

// Each picture is read in a process of its own.
const PNG = await pngOf(RED, 300, 200);
const NUMBERS = { chunk: '0', chunks: '2' };

test('an avatar has two files, and the files of the former one are deleted with it', async () => {
  await withService({}, async (service) => {
    const ann = await service.user('ann');
    await ann.put('/users/ann/avatar', pictureForm(PNG));
    const former = storedFiles(service);
    expect(former).toHaveLength(2);
    await ann.put('/users/ann/avatar', pictureForm(svgOf('<rect width="9" height="9"/>')));
    const current = storedFiles(service);
    expect(current).toHaveLength(2);
    expect(current.filter((id) => former.includes(id))).toEqual([]);
    const rows = await systemQuery<{ id: string }>(service, 'select id from dws.stored_file order by id');
    expect(rows.map(({ id }) => id)).toEqual(current);
    await ann.delete('/users/ann/avatar');
    expect(storedFiles(service)).toEqual([]);
    expect(await systemQuery(service, 'select from dws.stored_file')).toEqual([]);
  });
});

test('deleting a user deletes the files of the avatar and of unfinished uploads', async () => {
  await withService({}, async (service) => {
    const admin = await service.user('admin', { superuser: true });
    const ann = await service.user('ann');
    await ann.put('/users/ann/avatar', pictureForm(PNG));
    await uploadPart(ann, 'ann', 'unfinished', 'part', NUMBERS);
    await uploadPart(admin, 'ann', 'by admin', 'part', NUMBERS);
    await uploadPart(admin, 'admin', 'own', 'part', NUMBERS);
    expect(storedFiles(service)).toHaveLength(5);
    await expectStatus(admin.delete('/users/ann'), 204);
    expect(await systemQuery(service, 'select upload_id as id from dws.avatar_upload_part')).toEqual([{ id: 'own' }]);
    expect(await systemQuery(service, 'select from dws.stored_file')).toHaveLength(1);
    expect(storedFiles(service)).toHaveLength(1);
    expect((await getPicture(admin, `/users/${ann.id}/avatar`)).bytes).toEqual(
      (await getPicture(admin, '/users/unknown/avatar')).bytes,
    );
  });
});

test('avatars and parts count among the bytes of the tenant', async () => {
  await withService({ TENANT_QUOTA_BYTES: '20000' }, async (service) => {
    const ann = await service.user('ann');
    const large = await pngOf(BLUE, 900, 900);
    expect(large.length).toBeGreaterThan(10_000);
    expect(large.length).toBeLessThan(19_000);
    await expectStatus(ann.put('/users/ann/avatar', pictureForm(large)), 200);
    // The file that is replaced no longer counts.
    await expectStatus(ann.put('/users/ann/avatar', pictureForm(large)), 200);
    const bob = await service.user('bob');
    await expectError(bob.put('/users/bob/avatar', pictureForm(large)), 413, /the quota is 20000/);
    expect((await bob.get('/me')).body.avatarUrl).not.toContain('?');
    await expectError(uploadPart(ann, 'ann', 'a', Buffer.alloc(12_000), NUMBERS), 413, /the quota is 20000/);
    expect(storedFiles(service)).toHaveLength(2);
    await expectStatus(uploadPart(ann, 'ann', 'a', Buffer.alloc(100), NUMBERS), 200);
  });
});

test('a backup contains both files of an avatar', async () => {
  await withService({}, async (service) => {
    const ann = await service.user('ann');
    await ann.put('/users/ann/avatar', pictureForm(PNG));
    const client = new pg.Client(service.databaseUrl);
    await client.connect();
    const files = await filesOf(client, service.platform.config);
    await client.end();
    expect(files.map(({ name }) => name)).toEqual(storedFiles(service).map((id) => `files/${id}`));
    expect(files.every(({ source }) => existsSync(source))).toBe(true);
  });
});

test('the default image is shown while the file of an avatar is missing', async () => {
  await withService({}, async (service) => {
    const ann = await service.user('ann');
    await ann.put('/users/ann/avatar', pictureForm(PNG));
    for (const id of storedFiles(service)) await service.platform.files.remove(id);
    expect((await getPicture(ann, '/users/ann/avatar')).bytes).toEqual(
      (await getPicture(ann, '/users/unknown/avatar')).bytes,
    );
    await expectStatus(ann.get('/users/ann/avatar-full'), 404);
  });
});

test('GraphQL reads two originals of a caller concurrently, others wait, and REST streams without a place', async () => {
  await withService({}, async (service) => {
    const ann = await service.user('ann');
    const bob = await service.user('bob');
    await ann.put('/users/ann/avatar', pictureForm(PNG));
    const [row] = await systemQuery<{ id: string }>(
      service,
      'select avatar_original_id as id from dws.app_user where id = $1',
      ann.id,
    );
    await bob.put('/users/bob/avatar', pictureForm(PNG));
    // A read of a pipe ends when its writer closes it.
    const path = service.platform.files.path(row!.id);
    await rename(path, `${path}.aside`);
    execFileSync('mkfifo', [path]);
    const read = () => ann.data('{ originalAvatar(username: "ann") { content } }');
    const reads = [read(), read(), read()];
    const places = (state: string) => readMetric(ann, 'dws_places', { work: 'reads of uploaded pictures', state });
    await expect.poll(() => places('waiting')).toBe(1);
    expect([await places('total'), await places('running')]).toEqual([4, 2]);
    expect((await getPicture(ann, '/users/bob/avatar-full')).bytes).toEqual(PNG);
    const writer = await open(path, 'w');
    await rm(path);
    await rename(`${path}.aside`, path);
    await writer.close();
    const contents = (await Promise.all(reads)).map(({ originalAvatar }) => originalAvatar.content);
    // Which of the three requests waited is not known.
    expect(contents.sort()).toEqual(['', '', PNG.toString('base64')]);
    expect(await places('running')).toBe(0);
  });
});
