import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readConfig, type Config } from '../../src/core/config.ts';
import { childEnvironment } from '../../src/core/process-environment.ts';
import { writeBackup } from '../../src/server/backup/backup.ts';
import { openBackup, restoreBackup, type Backup } from '../../src/server/backup/restore.ts';
import type { TarEntry } from '../../src/server/backup/tar.ts';
import { RESTORE_MARKER } from '../../src/server/backup/unfinished-restore.ts';
import { prepareStart } from '../../src/server/start-checks.ts';
import { eventually } from '../operation/fixture.ts';
import { APP_SECRET, dws, withInstallation } from '../support/backup-fixture.ts';
import { builtMain } from '../support/built-service.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { newFolder } from '../support/service-process.ts';

describe('a backup or restore that fails', () => {
  test('a file that cannot be read is reported before the embedded Postgres is started', async () => {
    const [folder, away] = [newFolder(), newFolder()];
    const file = join(away.path, 'typo.tar.gz');
    const restore = (name: string) => dws({ DATA_DIR: folder.path, APP_SECRET }, 'restore', name);
    expect(await restore(file)).toEqual({
      code: 1,
      printed: `The backup cannot be read: ENOENT: no such file or directory, open '${file}'\n`,
    });
    expect(await restore(away.path)).toEqual({
      code: 1,
      printed: 'The backup cannot be read: EISDIR: illegal operation on a directory, read\n',
    });
    writeFileSync(file, 'not compressed');
    expect(await restore(file)).toEqual({ code: 1, printed: 'The file is not a backup of this service\n' });
    expect(readdirSync(folder.path)).toEqual([]);
    for (const { remove } of [folder, away]) remove();
  });

  /** Restores a backup into an empty installation with a failure after the last entry, then without. */
  const expectEmptyAfter = (fail: (url: string, target: Config) => unknown, message: string | RegExp): Promise<void> =>
    withInstallation(async ({ database, config, away, addFile }) => {
      writeFileSync(await addFile('orders.csv'), 'id');
      const archive = join(away, 'backup');
      await writeBackup(database.url, config, archive);
      const empty = await createDatabase('template0');
      const target = readConfig({ DATA_DIR: join(away, 'target'), APP_SECRET });
      const { manifest, entries } = await openBackup(archive);
      async function* failing(): Backup['entries'] {
        yield* entries;
        // All is written and nothing committed.
        await fail(empty.url, target);
      }
      await expect(restoreBackup(empty.url, target, { manifest, entries: failing() })).rejects.toThrow(message);
      expect(readdirSync(target.DATA_DIR)).toEqual([]);
      expect(await runSql(empty.url, `select nspname from pg_namespace where nspname = 'dws'`)).toEqual([]);
      expect(await restoreBackup(empty.url, target, await openBackup(archive))).toMatchObject({ files: 1 });
      await empty.drop();
    });

  test('a restore whose connection is lost reports the loss and leaves database and folder empty', () =>
    expectEmptyAfter(
      (url) =>
        runSql(
          url,
          `select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and application_name = 'dws restore'`,
        ),
      /^(terminating connection|Connection terminated|Client has encountered a connection error)/,
    ));

  test('a restore that cannot remove its mark leaves database and folder empty', () =>
    expectEmptyAfter((_url, { DATA_DIR }) => {
      rmSync(join(DATA_DIR, RESTORE_MARKER));
      mkdirSync(join(DATA_DIR, RESTORE_MARKER));
    }, 'Path is a directory'));

  test('a mark in the folder of another installation removes nothing of it', () =>
    withInstallation(async ({ database, config, away, addFile }) => {
      const file = await addFile('orders.csv');
      writeFileSync(file, 'id');
      const archive = join(away, 'backup');
      await writeBackup(database.url, config, archive);
      writeFileSync(join(config.DATA_DIR, RESTORE_MARKER), '');
      await expect(restoreBackup(database.url, config, await openBackup(archive))).rejects.toThrow(
        'A backup is restored into an empty database and an empty DATA_DIR only',
      );
      expect(readFileSync(file, 'utf8')).toBe('id');
      expect(await runSql(database.url, 'select filename from dws.stored_file')).toEqual([{ filename: 'orders.csv' }]);
    }));

  test('an archive that is damaged anywhere is refused', () =>
    withInstallation(async ({ database, config, away }) => {
      const archive = join(away, 'backup');
      await writeBackup(database.url, config, archive);
      const bytes = readFileSync(archive);
      const plain = gunzipSync(bytes);
      // The checksum of the decompressed bytes is at the end.
      bytes[bytes.length - 8]! ^= 1;
      writeFileSync(join(away, 'trailer'), bytes);
      const empty = await createDatabase('template0');
      const restore = async () => restoreBackup(empty.url, config, await openBackup(join(away, 'trailer')));
      await expect(restore()).rejects.toThrow('The backup is damaged: incorrect data check');
      expect(await runSql(empty.url, `select nspname from pg_namespace where nspname = 'dws'`)).toEqual([]);
      await empty.drop();
      // A letter of the second name.
      plain[1024]! ^= 1;
      writeFileSync(join(away, 'header'), gzipSync(plain));
      const { entries } = await openBackup(join(away, 'header'));
      await expect(entries.next()).rejects.toThrow('The backup is damaged: a header is invalid');
    }));

  test('an archive without some of its parts, or with other bytes in them, is refused', () =>
    withInstallation(async ({ database, config, away, addFile }) => {
      writeFileSync(await addFile('orders.csv'), 'id');
      const archive = join(away, 'backup');
      await writeBackup(database.url, config, archive);
      const empty = await createDatabase('template0');
      const target = readConfig({ DATA_DIR: join(away, 'target'), APP_SECRET });
      const restoreChanged = async (change: (entry: TarEntry) => TarEntry | null) => {
        const { manifest, entries } = await openBackup(archive);
        async function* changed(): Backup['entries'] {
          for await (const entry of entries) {
            const { name, size, content } = entry;
            const bytes: Uint8Array[] = [];
            for await (const part of content) bytes.push(part);
            const kept = change({ name, size, content: bytes });
            if (kept) yield kept;
          }
        }
        return restoreBackup(empty.url, target, { manifest, entries: changed() });
      };
      const without = (pattern: RegExp) => restoreChanged((entry) => (pattern.test(entry.name) ? null : entry));
      for (const pattern of [/^files\//, /^tables\/stored_file\//, /^(files|tables|datasets|apps)\//])
        await expect(without(pattern)).rejects.toThrow(/^The backup has \d+ parts instead of \d+$/);
      await expect(without(/^end\.json$/)).rejects.toThrow('The backup ends early: it is incomplete');
      const other = (entry: TarEntry) =>
        entry.name.startsWith('files/') ? { ...entry, content: [Buffer.from('ix')] } : entry;
      await expect(restoreChanged(other)).rejects.toThrow('The backup was changed after it was written');
      expect(readdirSync(target.DATA_DIR)).toEqual([]);
      expect(await restoreChanged((entry) => entry)).toMatchObject({ files: 1 });
      await empty.drop();
    }));

  test.each(['../escaped', '/tmp/escaped', 'files/../escaped', 'files/escaped', 'secret', 'tables/none/000001.ndjson'])(
    'a part named %s is refused, and nothing is written',
    (name) =>
      withInstallation(async ({ database, config, away }) => {
        const archive = join(away, 'backup');
        await writeBackup(database.url, config, archive);
        const empty = await createDatabase('template0');
        const target = readConfig({ DATA_DIR: join(away, 'target'), APP_SECRET });
        const { manifest, entries } = await openBackup(archive);
        async function* hostile(): Backup['entries'] {
          yield* entries;
          yield { name, size: 1, content: [Buffer.from('x')] };
        }
        await expect(restoreBackup(empty.url, target, { manifest, entries: hostile() })).rejects.toThrow(
          `The backup has an unknown part: ${JSON.stringify(name)}`,
        );
        expect(readdirSync(target.DATA_DIR)).toEqual([]);
        expect(readdirSync(away).toSorted()).toEqual(['backup', 'target']);
        await empty.drop();
      }),
  );

  test('a lost file or a wrong DATA_DIR is named, and no archive stays', () =>
    withInstallation(async ({ database, config, away, addFile, links }) => {
      const archive = join(away, 'backup');
      const absent = join(away, 'absent');
      await expect(writeBackup(database.url, { ...config, DATA_DIR: absent }, archive)).rejects.toThrow(
        `DATA_DIR ${absent} does not exist: set it to the folder of the service`,
      );
      const path = await addFile('orders.csv');
      await expect(writeBackup(database.url, config, archive)).rejects.toThrow(
        `The uploaded file "orders.csv" is missing: there is no ${path}. Set DATA_DIR to the folder of the service; ` +
          'if it is, delete its datasource or upload it again',
      );
      expect(readdirSync(away)).toEqual([]);
      expect(links()).toBeUndefined();
    }));

  test('the snapshot has ended while files are written', () =>
    withInstallation(async ({ database, config, away, addFile }) => {
      // A pipe keeps the backup at this file until it is closed.
      const path = await addFile('orders.csv');
      execFileSync('mkfifo', [path]);
      const backup = writeBackup(database.url, config, join(away, 'backup'));
      const pipe = await open(path, 'w');
      const connections = await runSql(
        database.url,
        `select state from pg_stat_activity where datname = current_database() and application_name = 'dws backup'`,
      );
      await pipe.close();
      expect(connections).toEqual([{ state: 'idle' }]);
      expect(await backup).toMatchObject({ files: 1 });
    }));

  test.each(['SIGINT', 'SIGTERM'] as const)('%s removes archive and links', (signal) =>
    withInstallation(async ({ database, config, away, addFile, links }) => {
      const path = await addFile('orders.csv');
      writeFileSync(path, '');
      truncateSync(path, 2 ** 40);
      const archive = join(away, 'backup');
      const env = { ...childEnvironment(), DATA_DIR: config.DATA_DIR, APP_SECRET, DATABASE_URL: database.url };
      const child = spawn(process.execPath, [builtMain(), 'backup', archive], { env, stdio: 'ignore' });
      const ended = once(child, 'exit');
      onTestFinished(() => void child.kill('SIGKILL'));
      await eventually(async () => existsSync(archive) && statSync(archive).size > 0);
      expect(links()).toHaveLength(1);
      child.kill(signal);
      expect(await ended).toEqual([1, null]);
      expect(readdirSync(away)).toEqual([]);
      expect(links()).toBeUndefined();
    }),
  );

  test('links of killed backups are removed after a day, by the next backup and by a start', () =>
    withInstallation(async ({ database, config, away, links }) => {
      const parent = join(config.DATA_DIR, 'backup-links');
      const leave = (name: string, hours: number) => {
        mkdirSync(join(parent, name), { recursive: true });
        writeFileSync(join(parent, name, '0'), 'rows');
        const time = new Date(Date.now() - hours * 3_600_000);
        utimesSync(join(parent, name), time, time);
      };
      leave('old', 25);
      leave('young', 23);
      await writeBackup(database.url, config, join(away, 'backup'));
      expect(links()).toEqual(['young']);
      leave('old', 25);
      await prepareStart({ ...config, HOST: '127.0.0.1', PORT: 0, DATABASE_URL: database.url });
      expect(links()).toEqual(['young']);
    }));
});
