import { readdirSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CsvSegmentWriter } from '../../src/adapters/drivers/csv-encoder.ts';
import { fileError } from '../../src/adapters/drivers/file/file-error.ts';
import { sqliteError } from '../../src/adapters/drivers/sqlite/sqlite-error.ts';
import { startEmbeddedPostgres } from '../../src/adapters/embedded-postgres/embedded-postgres.ts';
import { toApiError } from '../../src/core/api-error.ts';
import { written } from '../../src/core/disk-full.ts';
import { migrate } from '../../src/server/migrate.ts';
import { createTenant } from '../../src/services/identity/bootstrap.ts';
import type { Client } from '../support/client.ts';
import { HAS_SMALL_DISKS } from '../support/engine-presence.ts';
import { expectBody, expectGraphqlError } from '../support/expect.ts';
import { configOf } from '../support/postgres-source.ts';
import { createDatabase } from '../support/postgres.ts';
import { startService, type Service } from '../support/service.ts';
import { mountDisk, type SmallDisk } from '../support/small-disk.ts';
import { createForm, DATASETS, storedFiles } from '../support/upload-form.ts';

const FULL = "The service's disk is full";
const ERROR = { code: 'UNAVAILABLE', message: FULL };

describe('a write to /dev/full', () => {
  test('is 503 UNAVAILABLE without a path', async () => {
    await expect(written(writeFile('/dev/full', 'x'))).rejects.toMatchObject({ status: 503, ...ERROR });
    const raw = await writeFile('/dev/full', 'x').catch((error: unknown) => error);
    expect(toApiError(raw)).toMatchObject({ status: 503, ...ERROR });
  });

  test('of rows does not blame their source', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'dws-full-'));
    symlinkSync('/dev/full', join(dir, 'segment-000000.csv'));
    const writer = new CsvSegmentWriter(dir);
    writer.row(['1']);
    await expect(writer.flush()).rejects.toMatchObject({ status: 503, ...ERROR });
    await rm(dir, { recursive: true });
  });
});

test('errors of Postgres and DuckDB about a full disk are recognized, and those about memory are not', () => {
  const messageOf = (message: string, code?: string) =>
    toApiError(Object.assign(new Error(message), { code }))?.message;
  expect(messageOf('could not extend file "base/16389/2619": No space left on device', '53100')).toBe(FULL);
  expect(messageOf('IO Error: Could not write file "/data/x.duckdb": No space left on device')).toBe(FULL);
  expect(messageOf('Out of Memory Error: failed to offload data block of size 256.0 KiB')).toBe(FULL);
  expect(
    messageOf('could not resize shared memory segment "/PostgreSQL.1" to 8 bytes: No space left on device', '53100'),
  ).toBeUndefined();
  expect(messageOf('Out of Memory Error: failed to allocate data of size 128.0 KiB')).toBeUndefined();
});

test('errors of a query of an uploaded file are of the disk or of the query', () => {
  expect(fileError(new Error('IO Error: Could not write file "/tmp/spill": No space left on device'))).toMatchObject(
    ERROR,
  );
  expect(
    fileError(new Error('Out of Memory Error: failed to offload data block (4.0 GiB/4.0 GiB used)')),
  ).toMatchObject({ status: 400, message: expect.stringMatching(/^The query needs more memory/) });
  const full = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
  expect(sqliteError(full)).toMatchObject(ERROR);
});

/** Runs a test with a service whose `DATA_DIR` is a small disk. */
async function withSmallDisk(work: (service: Service, disk: SmallDisk, admin: Client) => Promise<void>): Promise<void> {
  const disk = mountDisk(80);
  const service = await startService({ DATA_DIR: disk.path, RESERVED_DISK_BYTES: '0' });
  try {
    await work(service, disk, await service.user('admin', { superuser: true }));
  } finally {
    await service.close();
    disk.unmount();
  }
}

/** Creates a dataset of `rows` long rows of a Postgres that is not on the small disk, and refreshes it. */
async function createDataset(admin: Client, url: string, rows: number) {
  const source = await admin.creates('/datasources', { name: 'Source', type: 'postgres', ...configOf(url) });
  const { id } = await admin.creates('/datasets', { name: 'Rows', datasourceId: source.id, query: queryOf(rows) });
  await admin.creates(`/datasets/${id}/_refresh`, {});
  return id as string;
}

/** Texts that do not compress. */
const queryOf = (rows: number) =>
  `select i, md5(i::text) || md5((i + 1)::text) as text from generate_series(1, ${rows}) i`;

const ready = (client: Client) => client.request('GET', '/readyz');
const foldersOf = (disk: SmallDisk) => readdirSync(join(disk.path, 'datasets')).toSorted();
const filesOf = (disk: SmallDisk) => readdirSync(join(disk.path, 'datasets', foldersOf(disk)[0]!)).toSorted();

/** Waits for the words of the only dataset, which the loader writes after a refresh. Returns the name of their file. */
async function waitForWords(disk: SmallDisk): Promise<string> {
  const names = ['rows.duckdb', expect.stringMatching(/^words.*duckdb$/)];
  await expect.poll(() => filesOf(disk)).toEqual(names);
  return filesOf(disk)[1]!;
}

const countRows = async (admin: Client, id: string) => (await admin.get(`/datasets/${id}/data?limit=1`)).body.total;

describe.skipIf(!HAS_SMALL_DISKS)('on a full disk', () => {
  test('a refresh fails with 503, the old rows stay, and it works again when there is room', async () => {
    const database = await createDatabase('template0');
    await withSmallDisk(async (_service, disk, admin) => {
      const id = await createDataset(admin, database.url, 1000);
      await waitForWords(disk);
      const before = foldersOf(disk);
      await expectBody(ready(admin), 200, { status: 'ok' });
      await admin.put(`/datasets/${id}`, { query: queryOf(150_000) });
      for (const free of [0, 5_000_000]) {
        disk.fill(free);
        await expectBody(ready(admin), 503, { status: 'unavailable', down: [{ name: 'disk', reason: FULL }] });
        await expectBody(admin.post(`/datasets/${id}/_refresh`, {}), 503, ERROR);
        const { lastRefresh } = (await admin.get(`/datasets/${id}`)).body;
        expect(lastRefresh).toMatchObject({ success: false, error: FULL });
        await expectGraphqlError(
          admin.gql(`mutation { refreshDataset(id: "${id}") { result { records } } }`),
          'UNAVAILABLE',
          FULL,
        );
        expect(foldersOf(disk)).toEqual(before);
        expect(await countRows(admin, id)).toBe(1000);
        disk.empty();
      }
      await admin.put(`/datasets/${id}`, { query: queryOf(2000) });
      await admin.creates(`/datasets/${id}/_refresh`, {});
      expect(await countRows(admin, id)).toBe(2000);
      await expectBody(ready(admin), 200, { status: 'ok' });
    });
    await database.drop();
  });

  test('an upload, a search by words and a snapshot fail with 503 and leave nothing', async () => {
    const database = await createDatabase('template0');
    await withSmallDisk(async (service, disk, admin) => {
      const id = await createDataset(admin, database.url, 200_000);
      const folders = foldersOf(disk);
      await rm(join(disk.path, 'datasets', folders[0]!, await waitForWords(disk)));
      disk.fill();
      await expectBody(admin.post(DATASETS, createForm('a\n1\n'.repeat(1000))), 503, ERROR);
      expect(storedFiles(service)).toEqual([]);
      await expectBody(admin.get(`/datasets/${id}/data?q=abc`), 503, ERROR);
      await expectGraphqlError(admin.gql(`{ dataset(id: "${id}") { data(q: "abc") { count } } }`), 'UNAVAILABLE', FULL);
      expect(filesOf(disk)).toEqual(['rows.duckdb']);
      expect(await countRows(admin, id)).toBe(200_000);
      disk.empty();

      disk.fillNames(1);
      await expectBody(admin.post(`/datasets/${id}/snapshots`, { name: 'Then' }), 503, ERROR);
      expect(foldersOf(disk)).toEqual(folders);
      disk.empty();
      const word = 'c4ca4238a0b923820dcc509a6f75849bc81e728d9d4c2f636f067f89cc14862c';
      expect((await admin.get(`/datasets/${id}/data?q=${word}`)).body.total).toBe(1);
      await admin.creates(DATASETS, createForm('a\n1\n'));
      await admin.creates(`/datasets/${id}/snapshots`, { name: 'Then' });
    });
    await database.drop();
  });

  test('an uploaded file whose rows do not fit is not blamed', async () => {
    await withSmallDisk(async (_service, disk, admin) => {
      const { id } = await admin.creates(DATASETS, createForm('a\n1\n2\n'));
      await admin.put(`/datasets/${id}`, {
        query: `select md5(i::varchar) || md5((i + 1)::varchar) as text from data, range(200000) r(i)`,
      });
      for (const free of [0, 4_000_000]) {
        disk.fill(free);
        await expectBody(admin.post(`/datasets/${id}/_refresh`, {}), 503, ERROR);
        disk.empty();
      }
      expect(await countRows(admin, id)).toBe(2);
    });
  });

  test('a write of the embedded Postgres is 503, and works again when there is room', async () => {
    const disk = mountDisk(200);
    const postgres = await startEmbeddedPostgres({ dataDir: disk.path, durable: false });
    await migrate(postgres.url);
    const service = await startService(
      { DATA_DIR: disk.path, RESERVED_DISK_BYTES: '0' },
      { databaseUrl: postgres.url },
    );
    try {
      await createTenant(service.platform.system, 'default');
      const admin = await service.user('admin', { superuser: true });
      const put = (settings: object) => admin.put('/me', { settings });
      const long = { text: Array.from({ length: 60_000 }, () => Math.random().toString(36).at(-1)).join('') };
      await expectBody(put({ text: 'short' }), 200, {});
      disk.fill();
      await expectBody(put(long), 503, ERROR);
      await expectGraphqlError(
        admin.gql('mutation ($settings: JSONObject!) { updateMe(input: { settings: $settings }) { id } }', {
          settings: long,
        }),
        'UNAVAILABLE',
        FULL,
      );
      await expectBody(admin.get('/me'), 200, { settings: { text: 'short' } });
      disk.empty();
      await expectBody(put(long), 200, { settings: long });
    } finally {
      await service.close();
      await postgres.close();
      disk.unmount();
    }
  });
});
