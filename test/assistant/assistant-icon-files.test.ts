import { existsSync } from 'node:fs';
import pg from 'pg';
import { expect, test } from 'vitest';
import { filesOf } from '../../src/server/backup/links.ts';
import { getPicture, pictureForm } from '../support/avatar-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectError, expectStatus } from '../support/expect.ts';
import { BLUE, colorAt, nameOf, pngOf, RED, svgBomb, svgOf } from '../support/picture-files.ts';
import { awaitPictureProcess, pictureProcesses } from '../support/picture-processes.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { storedFiles, withService } from '../support/upload-form.ts';

// Each picture is read in a process of its own.
const PNG = await pngOf(RED, 300, 200);
const put = (client: Client, id: string, picture: Uint8Array | string = PNG) =>
  client.put(`/assistants/${id}/icon`, pictureForm(picture));

/** Runs a test with an assistant of a user. */
const withAssistant = (run: (service: Service, ann: Client, id: string) => Promise<void>, settings = {}) =>
  withService(settings, async (service) => {
    const ann = await service.user('ann');
    await run(service, ann, (await ann.creates('/assistants', { name: 'Shop' })).id);
  });

const rowsOf = (service: Service) => systemQuery<{ id: string }>(service, 'select id from dws.stored_file order by id');

test('an icon has two files, which are deleted with it and with its assistant', async () => {
  await withAssistant(async (service, ann, id) => {
    await expectStatus(put(ann, id), 200);
    const former = storedFiles(service);
    expect(former).toHaveLength(2);
    await expectStatus(put(ann, id, svgOf('<rect width="9" height="9"/>')), 200);
    const current = storedFiles(service);
    expect(current).toHaveLength(2);
    expect(current.filter((file) => former.includes(file))).toEqual([]);
    expect((await rowsOf(service)).map((row) => row.id)).toEqual(current);
    await expectStatus(ann.delete(`/assistants/${id}/icon`), 204);
    expect([storedFiles(service), await rowsOf(service)]).toEqual([[], []]);
    await expectStatus(put(ann, id), 200);
    await expectStatus(ann.delete(`/assistants/${id}`), 204);
    expect([storedFiles(service), await rowsOf(service)]).toEqual([[], []]);
  });
});

test('another owner has the icon, and no row stays when the database deletes an assistant', async () => {
  await withAssistant(async (service, ann, id) => {
    const bob = await service.user('bob');
    await expectStatus(put(ann, id), 200);
    const { bytes } = await getPicture(ann, `/assistants/${id}/icon`);
    await expectStatus(ann.put(`/assistants/${id}/owner`, { ownerId: 'bob' }), 200);
    expect((await getPicture(bob, `/assistants/${id}/icon`)).bytes).toEqual(bytes);
    await systemQuery(service, 'delete from dws.assistant where id = $1', id);
    expect(await rowsOf(service)).toEqual([]);
  });
});

test('icons count among the bytes of the tenant, without the replaced ones', async () => {
  await withAssistant(
    async (service, ann, id) => {
      const noise = (bytes: number) => svgOf(`<desc>${'x'.repeat(bytes)}</desc><rect width="9" height="9"/>`);
      await expectStatus(put(ann, id, noise(12_000)), 200);
      await expectStatus(put(ann, id, noise(12_000)), 200);
      const other = await ann.creates('/assistants', { name: 'Other' });
      await expectError(put(ann, other.id, noise(12_000)), 413, /the quota is 20000/);
      expect((await ann.get(`/assistants/${other.id}`)).body.iconUrl).toBe(other.iconUrl);
      expect(storedFiles(service)).toHaveLength(2);
    },
    { TENANT_QUOTA_BYTES: '20000' },
  );
});

test('a backup contains both files of an icon', async () => {
  await withAssistant(async (service, ann, id) => {
    await expectStatus(put(ann, id), 200);
    const client = new pg.Client(service.databaseUrl);
    await client.connect();
    const files = await filesOf(client, service.platform.config);
    await client.end();
    expect(files.map(({ name }) => name)).toEqual(storedFiles(service).map((file) => `files/${file}`));
    expect(files.every(({ source }) => existsSync(source))).toBe(true);
  });
});

test('the default icon is shown while the file of an icon is missing', async () => {
  await withAssistant(async (service, ann, id) => {
    const [icon, favicon] = [`/assistants/${id}/icon`, `/assistants/${id}/favicon.ico`];
    const before = [(await getPicture(ann, icon)).bytes, (await getPicture(ann, favicon)).bytes];
    await expectStatus(put(ann, id), 200);
    for (const file of storedFiles(service)) await service.platform.files.remove(file);
    expect([(await getPicture(ann, icon)).bytes, (await getPicture(ann, favicon)).bytes]).toEqual(before);
  });
});

test('an upload whose process ends leaves the former icon and no file, and the next one works', async () => {
  await withAssistant(async (service, ann, id) => {
    await expectStatus(put(ann, id), 200);
    const files = storedFiles(service);
    const pending = put(ann, id, svgBomb());
    const pid = await awaitPictureProcess();
    process.kill(pid, 'SIGKILL');
    await expectError(pending, 500, 'The picture could not be read: its process ended unexpectedly');
    await expect.poll(pictureProcesses).not.toContain(pid);
    expect(storedFiles(service)).toEqual(files);
    await expectStatus(put(ann, id, await pngOf(BLUE)), 200);
    expect(nameOf(await colorAt((await getPicture(ann, `/assistants/${id}/icon`)).bytes, 9, 9))).toBe('blue');
  });
});

test('concurrent uploads of one assistant leave one icon with its two files', async () => {
  await withAssistant(async (service, ann, id) => {
    const responses = await Promise.all(Array.from({ length: 6 }, () => put(ann, id)));
    expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(storedFiles(service)).toHaveLength(2);
    expect((await rowsOf(service)).map((row) => row.id)).toEqual(storedFiles(service));
  });
});
