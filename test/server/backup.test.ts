import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SystemPool } from '../../src/adapters/database/system-pool.ts';
import { childEnvironment, readConfig } from '../../src/core/config.ts';
import { newId } from '../../src/core/id.ts';
import { writeBackup } from '../../src/server/backup/backup.ts';
import { openBackup, restoreBackup, type Backup } from '../../src/server/backup/restore.ts';
import { migrate, MIGRATIONS } from '../../src/server/migrate.ts';
import { prepareStart } from '../../src/server/start-checks.ts';
import { eventually } from '../operation/fixture.ts';
import { builtMain } from '../support/built-service.ts';
import type { Client } from '../support/client.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import {
  ADMIN_PASSWORD,
  allGone,
  at,
  byToken,
  logIn,
  newFolder,
  startProcess,
  treeOf,
} from '../support/service-process.ts';
import { createForm, DATASETS, ORDER_ROWS, ORDERS } from '../support/upload-form.ts';

const APP_SECRET = 'a secret of an installation that is backed up';

/** Runs `dws` in a process of its own. Returns its output, on both streams, and its exit code. */
async function dws(variables: Record<string, string>, ...args: string[]): Promise<{ code: number; printed: string }> {
  const env = { ...childEnvironment(), ...variables };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [builtMain(), ...args], { env });
    return { code: 0, printed: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, printed: stdout + stderr };
  }
}

/** Creates content of each sort: an upload with rows and file, a draft, a report, a filter. */
async function createContent(caller: Client): Promise<{ dataset: string }> {
  const { id } = (await caller.request('POST', `/api${DATASETS}`, createForm(ORDERS))).body;
  await caller.put(`/datasets/${id}/draft`, { description: 'A draft' });
  await caller.creates('/reports', { name: 'Weekly', definition: { blocks: [] } });
  await caller.creates('/teams', { name: 'Größe & "Quotes"' });
  return { dataset: id as string };
}

/** Returns what a caller sees of the content, in both APIs. */
async function readContent(caller: Client, { dataset }: { dataset: string }) {
  const { body: data } = await caller.get(`/datasets/${dataset}/data`);
  const { body: draft } = await caller.get(`/datasets/${dataset}/draft`);
  const {
    dataset: record,
    teams,
    reports,
  } = await caller.data(
    `query ($id: ID!) { dataset(id: $id) { name records fields { name type } datasourceId }
      teams { items { name } } reports { items { name definition } } }`,
    { id: dataset },
  );
  return { rows: data._embedded['svc:record'], draft: draft.description, record, teams, reports };
}

test('a backup of a running service is restored into another folder', { timeout: 240_000 }, async () => {
  const [original, other, away] = [newFolder(), newFolder(), newFolder()];
  const archive = join(away.path, 'dws.backup');
  const variables = { DATA_DIR: original.path, ADMIN_PASSWORD, APP_SECRET };
  const stack = new AsyncDisposableStack();
  for (const folder of [original, other, away]) stack.defer(folder.remove);
  try {
    const service = await startProcess(variables);
    stack.defer(async () => void (await service.end('SIGKILL')));
    const caller = await byToken(await logIn(service.url));
    const content = await createContent(caller);
    const before = await readContent(caller, content);
    expect(before.rows).toEqual(ORDER_ROWS);
    expect(before.draft).toBe('A draft');

    const backup = await dws(variables, 'backup', archive);
    expect(backup).toEqual({
      code: 0,
      printed: expect.stringMatching(/^Wrote \d+ tables, 1 files and 2 sets of dataset rows to /),
    });
    expect(statSync(archive).mode & 0o777).toBe(0o600);
    expect(gunzipSync(readFileSync(archive)).includes(APP_SECRET)).toBe(false);
    expect(backup.printed).toContain('APP_SECRET is not in it: store it separately.');
    expect(await dws(variables, 'backup', archive)).toMatchObject({ code: 1 });
    expect(await dws(variables, 'restore', archive)).toEqual({
      code: 1,
      printed: 'A backup is restored into an empty database and an empty DATA_DIR only\n',
    });
    await caller.creates('/teams', { name: 'After the backup' });

    const tree = await treeOf(service.pid);
    await service.end('SIGKILL');
    await allGone(tree);
    rmSync(original.path, { recursive: true });

    // A damaged backup changes nothing, so that the restore can be repeated.
    const damaged = join(away.path, 'damaged');
    writeFileSync(damaged, readFileSync(archive).subarray(0, -2000));
    expect(await dws({ DATA_DIR: other.path, APP_SECRET }, 'restore', damaged)).toEqual({
      code: 1,
      printed: 'The backup ends early: it is incomplete\n',
    });

    const withoutKey = await dws({ DATA_DIR: other.path }, 'restore', archive);
    expect(withoutKey).toEqual({ code: 0, printed: expect.stringContaining('APP_SECRET does not have the key') });
    expect(existsSync(join(other.path, 'secret'))).toBe(false);

    const restored = await startProcess({ DATA_DIR: other.path, APP_SECRET });
    stack.defer(async () => void (await restored.end('SIGKILL')));
    const again = at(restored.url, caller);
    expect(await readContent(again, content)).toEqual(before);
    expect((await again.post(`/datasets/${content.dataset}/_refresh`, {})).body).toMatchObject({ records: 3 });
    expect((await again.get('/teams')).body.total).toBe(1);
    await again.creates('/teams', { name: 'After the restore' });
    expect(await restored.end('SIGTERM')).toBe(0);

    // A moved installation starts, although the record of its Postgres names the former folder.
    const moved = `${other.path}-moved`;
    renameSync(other.path, moved);
    stack.defer(() => rmSync(moved, { recursive: true, force: true }));
    const there = await startProcess({ DATA_DIR: moved, APP_SECRET });
    stack.defer(async () => void (await there.end('SIGKILL')));
    expect((await at(there.url, caller).get('/teams')).body.total).toBe(2);
    expect(await there.end('SIGTERM')).toBe(0);
  } finally {
    await stack.disposeAsync();
  }
});

describe('a database of an older version', () => {
  const FORMER = MIGRATIONS.at(-3)!.name;
  const LAST = MIGRATIONS.at(-1)!.name;

  /** Returns the databases of a backup and of its restore, which belong to a role without special rights. */
  async function createDatabases() {
    const [from, to] = [await createDatabase('template0'), await createDatabase('template0')];
    const role = `owner_${from.url.split('_').at(-1)}`;
    const asOwner = (url: string) => url.replace(/\/\/[^@]+@/, `//${role}:secret@`);
    await runSql(from.url, `create role ${role} login createrole password 'secret'`);
    for (const { url } of [from, to])
      await runSql(
        url,
        `alter database ${new URL(url).pathname.slice(1)} owner to ${role}; grant dws_app, dws_system to ${role}`,
      );
    return { from: asOwner(from.url), to: asOwner(to.url), drop: () => Promise.all([from.drop(), to.drop()]) };
  }

  test('is restored and migrated, by an owner who is no superuser', async () => {
    const folder = newFolder();
    const databases = await createDatabases();
    const config = readConfig({ DATA_DIR: folder.path, APP_SECRET });
    const archive = join(folder.path, 'former.backup');
    await migrate(databases.from, FORMER);
    const [tenant, user] = [newId(), newId()];
    await runSql(databases.from, `set role dws_system; insert into dws.tenant (id, slug) values ('${tenant}', 'acme')`);
    await runSql(
      databases.from,
      `set role dws_system; insert into dws.app_user (id, tenant_id, username) values ('${user}', '${tenant}', 'ann')`,
    );
    await writeBackup(databases.from, config, archive);
    expect(await restoreBackup(databases.to, config, await openBackup(archive))).toMatchObject({
      files: 0,
      datasets: 0,
      hasKey: true,
    });
    const system = new SystemPool(databases.to);
    const joined = 'select slug, username from dws.tenant t join dws.app_user u on u.tenant_id = t.id';
    expect(await system.query({ text: joined })).toEqual([{ slug: 'acme', username: 'ann' }]);
    await system.close();
    expect(await runSql(databases.to, 'select name from dws.migration order by name desc limit 1')).toEqual([
      { name: LAST },
    ]);
    // Row-level security and triggers are as they were.
    expect(
      await runSql(
        databases.to,
        `select count(*)::int as changed from pg_class c left join pg_trigger t on t.tgrelid = c.oid and not tgisinternal
          where relnamespace = 'dws'::regnamespace and relkind = 'r'
            and (tgenabled = 'D' or relrowsecurity and not relforcerowsecurity)`,
      ),
    ).toEqual([{ changed: 0 }]);
    folder.remove();
    await databases.drop();
  });
});

describe('a backup or restore that fails', () => {
  interface Installation {
    database: TestDatabase;
    config: ReturnType<typeof readConfig>;
    /** Folder of archives. */
    away: string;
    /** Records an uploaded file and returns its path. */
    addFile(filename: string): Promise<string>;
    /** Names of the folders of running backups; undefined when their parent does not exist. */
    links(): string[] | undefined;
  }

  async function withInstallation(work: (installation: Installation) => Promise<void>): Promise<void> {
    const [folder, away] = [newFolder(), newFolder()];
    const database = await createDatabase();
    const tenant = newId();
    await runSql(database.url, `insert into dws.tenant (id, slug) values ('${tenant}', 'acme')`);
    mkdirSync(join(folder.path, 'files'));
    await work({
      database,
      config: readConfig({ DATA_DIR: folder.path, APP_SECRET }),
      away: away.path,
      async addFile(filename) {
        const id = newId();
        await runSql(
          database.url,
          `insert into dws.stored_file (id, tenant_id, filename, content_type, size, sha256)
            values ($1, $2, $3, 'text/csv', 0, '')`,
          [id, tenant, filename],
        );
        return join(folder.path, 'files', id);
      },
      links: () => {
        const parent = join(folder.path, 'backup-links');
        return existsSync(parent) ? readdirSync(parent) : undefined;
      },
    });
    for (const { remove } of [folder, away]) remove();
    await database.drop();
  }

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

  test('a restore whose connection is lost reports the loss and leaves database and folder empty', () =>
    withInstallation(async ({ database, config, away, addFile }) => {
      writeFileSync(await addFile('orders.csv'), 'id');
      const archive = join(away, 'backup');
      await writeBackup(database.url, config, archive);
      const empty = await createDatabase('template0');
      const target = readConfig({ DATA_DIR: join(away, 'target'), APP_SECRET });
      const { manifest, entries } = await openBackup(archive);
      async function* disconnected(): Backup['entries'] {
        yield* entries;
        // All is written and nothing committed.
        await runSql(
          empty.url,
          `select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and application_name = 'dws restore'`,
        );
      }
      await expect(restoreBackup(empty.url, target, { manifest, entries: disconnected() })).rejects.toThrow(
        /^(terminating connection|Connection terminated|Client has encountered a connection error)/,
      );
      expect(readdirSync(target.DATA_DIR)).toEqual([]);
      expect(await runSql(empty.url, `select nspname from pg_namespace where nspname = 'dws'`)).toEqual([]);
      expect(await restoreBackup(empty.url, target, await openBackup(archive))).toMatchObject({ files: 1 });
      await empty.drop();
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
      // The first letter of the first name.
      plain[0]! ^= 1;
      writeFileSync(join(away, 'header'), gzipSync(plain));
      await expect(openBackup(join(away, 'header'))).rejects.toThrow('The backup is damaged at cackup.json');
    }));

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
