import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { childEnvironment } from '../../src/core/process-environment.ts';
import { writeBackup } from '../../src/server/backup/backup.ts';
import { END_NAME } from '../../src/server/backup/entry-digest.ts';
import { readTar, writeTar, type TarEntry } from '../../src/server/backup/tar.ts';
import { eventually } from '../operation/fixture.ts';
import { APP_SECRET, dws, withInstallation } from '../support/backup-fixture.ts';
import { builtMain } from '../support/built-service.ts';
import { beginRefresh, GATED, makeMillion } from '../support/million-rows.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import {
  ADMIN_PASSWORD,
  allGone,
  at,
  byToken,
  logIn,
  newFolder,
  runProcess,
  startProcess,
  treeOf,
} from '../support/service-process.ts';
import { WAITING_FOR_LOCKS } from '../support/waiting-locks.ts';

const UNFINISHED =
  'A restore did not finish: run `dws restore` again. It first removes what the former one left in the database and in DATA_DIR';

describe('a restore in the middle of a large file', () => {
  /** Adds a file of 100 GB to an archive, in front of its last entry. */
  async function enlarge(from: string, to: string): Promise<void> {
    const size = 100 * 2 ** 30;
    const chunk = Buffer.alloc(2 ** 20);
    async function* zeros() {
      for (let written = 0; written < size; written += chunk.length) yield chunk;
    }
    async function* entries(): AsyncGenerator<TarEntry> {
      for await (const entry of readTar(createReadStream(from).pipe(createGunzip()) as AsyncIterable<Uint8Array>))
        yield entry.name === END_NAME ? { name: `files/${newId()}`, size, content: zeros() } : entry;
    }
    const gate = new AbortController();
    const target = createWriteStream(to);
    // Enough that the reader is in the middle of the file; the rest is never read.
    const writing = pipeline(Readable.from(writeTar(entries())), createGzip({ level: 1 }), target, {
      signal: gate.signal,
    });
    await eventually(async () => target.bytesWritten > 5_000_000);
    gate.abort();
    await writing.catch(() => undefined);
  }

  async function withRestore(
    work: (restore: {
      variables: Record<string, string>;
      archive: string;
      end(signal: NodeJS.Signals): Promise<unknown[]>;
    }) => Promise<void>,
  ): Promise<void> {
    await withInstallation(async ({ database, config, away, addFile }) => {
      writeFileSync(await addFile('orders.csv'), 'id');
      const archive = join(away, 'backup');
      await writeBackup(database.url, config, archive);
      await enlarge(archive, join(away, 'large'));
      const empty = await createDatabase('template0');
      const variables = { DATA_DIR: join(away, 'target'), APP_SECRET, DATABASE_URL: empty.url };
      const child = spawn(process.execPath, [builtMain(), 'restore', join(away, 'large')], {
        env: { ...childEnvironment(), ...variables },
        stdio: 'ignore',
      });
      const ended = once(child, 'exit');
      onTestFinished(() => void child.kill('SIGKILL'));
      const files = join(variables.DATA_DIR, 'files');
      await eventually(async () => existsSync(files) && readdirSync(files).length === 2);
      await work({
        variables,
        archive,
        end(signal) {
          child.kill(signal);
          return ended;
        },
      });
      await empty.drop();
    });
  }

  test.each(['SIGINT', 'SIGTERM'] as const)('leaves nothing after %s', (signal) =>
    withRestore(async ({ variables, archive, end }) => {
      expect(await end(signal)).toEqual([1, null]);
      expect(readdirSync(variables['DATA_DIR']!)).toEqual([]);
      expect(await runSql(variables['DATABASE_URL']!, `select from pg_namespace where nspname = 'dws'`)).toEqual([]);
      expect(await dws(variables, 'restore', archive)).toMatchObject({ code: 0 });
    }),
  );

  test('is named by starts after SIGKILL, until the next restore removes it', () =>
    withRestore(async ({ variables, archive, end }) => {
      expect(await end('SIGKILL')).toEqual([null, 'SIGKILL']);
      const refused = { code: 1, printed: expect.stringContaining(UNFINISHED) };
      expect(await runProcess(variables)).toEqual(refused);
      const elsewhere = newFolder();
      expect(await runProcess({ ...variables, DATA_DIR: elsewhere.path })).toEqual(refused);
      expect(await dws(variables, 'migrate')).toEqual(refused);

      // Files of another installation are not touched.
      mkdirSync(join(elsewhere.path, 'files'));
      writeFileSync(join(elsewhere.path, 'files', 'orders'), 'id');
      expect(await dws({ ...variables, DATA_DIR: elsewhere.path }, 'restore', archive)).toMatchObject({ code: 1 });
      expect(readdirSync(join(elsewhere.path, 'files'))).toEqual(['orders']);
      elsewhere.remove();

      expect(await dws(variables, 'restore', archive)).toMatchObject({ code: 0 });
      expect(readdirSync(variables['DATA_DIR']!)).toEqual(['files']);
      expect(readdirSync(join(variables['DATA_DIR']!, 'files'))).toHaveLength(1);
      const service = await startProcess(variables);
      expect(await service.end('SIGTERM')).toBe(0);
    }));
});

test('a restore that is killed between its two marks is removed by the next one', () =>
  withInstallation(async ({ database, config, away, addFile }) => {
    writeFileSync(await addFile('orders.csv'), 'id');
    const archive = join(away, 'backup');
    await writeBackup(database.url, config, archive);
    const empty = await createDatabase('template0');
    const variables = { DATA_DIR: join(away, 'target'), APP_SECRET, DATABASE_URL: empty.url };
    // Waits where the restore removes the mark of the database.
    await runSql(
      empty.url,
      `create function wait_at_end() returns event_trigger language plpgsql as $$ begin
      if obj_description(to_regnamespace('dws'), 'pg_namespace') is null then perform pg_advisory_lock(1); end if;
    end $$`,
    );
    await runSql(
      empty.url,
      `create event trigger wait_at_end on ddl_command_end when tag in ('COMMENT') execute function wait_at_end()`,
    );
    const gate = new pg.Client({ connectionString: empty.url });
    await gate.connect();
    await gate.query('select pg_advisory_lock(1)');
    const child = spawn(process.execPath, [builtMain(), 'restore', archive], {
      env: { ...childEnvironment(), ...variables },
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const waiting = `${WAITING_FOR_LOCKS} and objid = 1`;
    await eventually(async () => (await gate.query(waiting)).rows.length === 1);
    expect(readdirSync(variables.DATA_DIR)).toEqual(['files']);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await gate.query(`select pg_terminate_backend(pid) from (${waiting}) waiting`);
    await gate.query('drop event trigger wait_at_end');
    await gate.end();

    expect(await runProcess(variables)).toEqual({ code: 1, printed: expect.stringContaining(UNFINISHED) });
    expect(await dws(variables, 'restore', archive)).toMatchObject({ code: 0 });
    expect(readdirSync(join(variables.DATA_DIR, 'files'))).toHaveLength(1);
    const service = await startProcess(variables);
    expect(await service.end('SIGTERM')).toBe(0);
    await empty.drop();
  }));

test('operations that ran or waited at the backup run after the restore', { timeout: 180_000 }, async () => {
  const [database, empty] = [await createDatabase(), await createDatabase('template0')];
  const [folder, other, away] = [newFolder(), newFolder(), newFolder()];
  const variables = { ADMIN_PASSWORD, APP_SECRET, WORKER_CONCURRENCY: '2' };
  const archive = join(away.path, 'backup');
  const service = await startProcess({ ...variables, DATABASE_URL: database.url, DATA_DIR: folder.path });
  const admin = await byToken(await logIn(service.url));
  const [first, second] = [await makeMillion(admin, GATED), await makeMillion(admin, GATED)];
  const openGate = await first.closeGate();
  const running = await beginRefresh(admin, first.id);
  await eventually(async () => (await first.running()).length > 0);
  // A tenant has half of the places, so the others wait.
  const waiting = await beginRefresh(admin, second.id);
  const { operation } = (
    await admin.data(
      `mutation ($id: ID!) { benchmarkDataset(id: $id, config: { iterations: 1 }, wait: false) { operation { id } } }`,
      { id: second.id },
    )
  ).benchmarkDataset;
  const statuses = async (url: string) =>
    Promise.all(
      [running, waiting, operation.id].map(async (id) => (await at(url, admin).get(`/progress/${id}`)).body.status),
    );
  expect(await statuses(service.url)).toEqual(['running', 'queued', 'queued']);
  expect(
    await dws({ ...variables, DATABASE_URL: database.url, DATA_DIR: folder.path }, 'backup', archive),
  ).toMatchObject({ code: 0 });
  const tree = await treeOf(service.pid);
  await service.end('SIGKILL');
  await allGone(tree);
  await openGate();

  const target = { ...variables, DATABASE_URL: empty.url, DATA_DIR: other.path };
  expect(await dws(target, 'restore', archive)).toMatchObject({ code: 0 });
  const restored = await startProcess(target);
  await eventually(async () => (await statuses(restored.url)).every((status) => status === 'succeeded'));
  for (const { id } of [first, second])
    expect((await at(restored.url, admin).get(`/datasets/${id}/data`)).body.total).toBe(4);
  expect(await restored.end('SIGTERM')).toBe(0);
  for (const { remove } of [folder, other, away]) remove();
  for (const { drop } of [first, second, database, empty]) await drop();
});
