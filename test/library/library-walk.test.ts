import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { startDriveFake } from '../../tools/drive-fake.ts';
import { createAction } from '../job/driver-fixture.ts';
import { BROWSER_FIXTURE, logIn, openPage, takeScreenshot, type WithBrowser } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { dumpDatabase } from '../support/database-dump.ts';
import { HAS_CHROMIUM } from '../support/engines.ts';
import { test as base } from '../support/fixture.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

const log: string[] = [];

const test = base.extend<{ service: Service } & WithBrowser>({
  ...BROWSER_FIXTURE,
  service: [
    async ({}, use) => {
      const service = await startService(
        { OUTBOUND_ALLOW: '127.0.0.1', LOG_LEVEL: 'trace' },
        { log: { write: (line: string) => void log.push(line) } },
      );
      service.platform.publicUrl = service.url;
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
});

/** Returns the contents of the files of a library by their paths, as a user of the API gets them. */
async function readFiles(client: Client, path: string): Promise<Record<string, string>> {
  const files = (await client.get(`${path}/files?limit=100`)).body._embedded['svc:library-file'];
  const contents: Record<string, string> = {};
  for (const file of files) contents[file.path] = (await client.get(`${path}/files/${file.id}/contents`)).body;
  return contents;
}

/** Returns the texts of all files below a folder. */
const readFolder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));

describe.skipIf(!HAS_CHROMIUM)('a library that a user connects in the browser and a schedule syncs', () => {
  for (const type of ['google-drive', 'dropbox', 'onedrive', 'box'])
    test(`follows ${type}, and no secret of it is anywhere`, async ({ browser, service, admin, ann }) => {
      const fake = await startDriveFake(type);
      const { tree, registration, authority } = fake;
      const { id: integrationId } = await admin.creates('/integrations', { name: type, type, ...registration });
      const { id } = await ann.creates('/libraries', { name: `Files of ${type}`, integrationId });
      const path = `/libraries/${id}`;
      const action = await createAction(ann, 'sync-library', { libraryId: id });

      const { page } = await openPage(browser, service.url);
      await logIn(page, service.url, 'ann');
      await page.getByRole('button', { name: 'Log out' }).waitFor();
      await page.goto((await ann.creates(`${path}/connection/_authorize`, {})).url);
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.waitForURL(`${service.url}/?connected=${id}`);
      await takeScreenshot(page, `connected-${type}`);
      await page.context().close();
      expect((await ann.get(`${path}/connection`)).body).toMatchObject({ status: 'connected' });

      const downloads = () => fake.calls['contents'] ?? 0;
      const listings = () => (fake.calls['list'] ?? 0) + (fake.calls['changes'] ?? 0);
      /** Lets the schedule of the job start it now, and returns the counts of its sync. */
      const syncBySchedule = async () => {
        await ann.put(action.job.path, { enabled: true, intervalType: 'cron', interval: '0 0 1 1 *' });
        await systemQuery(service, `update dws.job set next_run_at = now() where id = $1`, action.job.id);
        await expect
          .poll(async () => (await ann.get(`${action.job.path}/history?limit=1`)).body._embedded['svc:job-history'])
          .toMatchObject([{ trigger: 'schedule', status: 'succeeded' }]);
        const { lastSync } = (await ann.get(path)).body;
        await systemQuery(service, `delete from dws.job_run where job_id = $1`, action.job.id);
        const { syncedFiles, addedFiles, updatedFiles, deletedFiles, errorCount } = lastSync;
        return [syncedFiles, addedFiles, updatedFiles, deletedFiles, errorCount];
      };

      for (const file of ['a.txt', 'x/b.txt', 'x/y/c.txt', 'x/y/d.txt', 'z/e.txt'])
        tree.put(file, { text: `1 ${file}` });
      expect(await syncBySchedule()).toEqual([5, 5, 0, 0, 0]);
      expect(downloads()).toBe(5);

      // Every way of change, after the token has ended.
      tree.put('a.txt', { text: '2' });
      tree.put('new/f.txt', { text: 'Ärger 3' });
      tree.move('x/y', 'moved');
      tree.move('x/b.txt', 'x/renamed.txt');
      tree.trash('z');
      tree.put('empty.txt', { text: '' });
      tree.delete('moved/d.txt');
      authority.expireTokens();
      expect(await syncBySchedule()).toEqual([5, 2, 3, 2, 0]);
      expect(downloads()).toBe(8);
      const expected = {
        'a.txt': '2',
        'empty.txt': '',
        'moved/c.txt': '1 x/y/c.txt',
        'new/f.txt': 'Ärger 3',
        'x/renamed.txt': '1 x/b.txt',
      };
      expect(await readFiles(ann, path)).toEqual(expected);

      const listed = listings();
      expect(await syncBySchedule()).toEqual([5, 0, 0, 0, 0]);
      expect([listings() - listed, downloads()]).toEqual([1, 8]);

      const found = (await ann.get(`/search?q=renamed`)).body._embedded['svc:hit'];
      expect(found).toContainEqual(expect.objectContaining({ name: 'renamed.txt' }));

      const secrets = [registration.clientSecret, ...authority.issued];
      expect(secrets.length).toBeGreaterThanOrEqual(4);
      const responses = await Promise.all(
        [path, `${path}/connection`, `${path}/account`, `${path}/integration`, `${path}/activity`, '/integrations'].map(
          async (url) => JSON.stringify((await ann.get(url)).body),
        ),
      );
      const texts = [
        ...log,
        ...responses,
        ...(await dumpDatabase(service.databaseUrl)),
        ...readFolder(service.platform.config.DATA_DIR),
      ];
      expect(texts.join('')).toContain('renamed.txt');
      expect(texts.filter((text) => secrets.some((secret) => text.includes(secret)))).toEqual([]);
      await fake.close();
    });
});
