import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { SystemPool } from '../../src/adapters/database/system-pool.ts';
import { readConfig } from '../../src/core/config.ts';
import { newId } from '../../src/core/id.ts';
import { writeBackup } from '../../src/server/backup/backup.ts';
import { openBackup, restoreBackup } from '../../src/server/backup/restore.ts';
import { migrate, MIGRATIONS } from '../../src/server/migrate.ts';
import { APP_SECRET, dws } from '../support/backup-fixture.ts';
import type { Client } from '../support/client.ts';
import { createDatabase } from '../support/postgres.ts';
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
    // A value that needs the key.
    const drive = { name: 'Drive', type: 'dropbox', clientId: 'workspace', clientSecret: 'secret of the client' };
    await caller.creates('/integrations', drive);
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
      printed: expect.stringMatching(
        /^The backup needs the key [0-9a-f]{16}\.\nA backup is restored into an empty database and an empty DATA_DIR only\n$/,
      ),
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
      printed: expect.stringMatching(
        /^The backup needs the key [0-9a-f]{16}\.\nThe backup ends early: it is incomplete\n$/,
      ),
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
  const FORMER = MIGRATIONS.at(-3)!;
  const LAST = MIGRATIONS.at(-1)!;

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

  test('is restored and migrated, by an owner who is not a superuser', async () => {
    const folder = newFolder();
    const databases = await createDatabases();
    const config = readConfig({ DATA_DIR: folder.path, APP_SECRET });
    const archive = join(folder.path, 'former.backup');
    await migrate(databases.from, { last: FORMER });
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
