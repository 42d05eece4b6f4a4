import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/core/config.ts';
import { writeBackup } from '../../src/server/backup/backup.ts';
import { openBackup, restoreBackup } from '../../src/server/backup/restore.ts';
import { startListener } from '../outbound/listener.ts';
import { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { newFolder } from '../support/service-process.ts';
import { startService, type Service } from '../support/service.ts';
import { createJob } from './job-fixture.ts';
import { urlOf, verify } from './webhook-fixture.ts';

const APP_SECRET = 'a secret of an installation that is backed up';
const DAY_MS = 86_400_000;
const TABLES = ['job', 'job_action', 'job_action_condition', 'job_run', 'stored_file'];
const OPEN = { OUTBOUND_ALLOW: '127.0.0.1', APP_SECRET };

const rowsOf = (url: string, table: string) =>
  runSql(url, `select to_json(t)::text as row from dws.${table} t order by 1`);

/** Creates a job with a schedule, a signed webhook, a run condition and a file, and runs it. */
async function createNightly(ann: Client, url: string) {
  const job = await createJob(ann, {
    name: 'Nightly',
    interval: '30 4 * * *',
    intervalType: 'cron',
    timezone: 'Europe/Berlin',
    enabled: true,
  });
  const data = { url, secret: 'hush-hush', headers: { Authorization: 'Bearer topsecret' } };
  const { id } = await ann.creates(`${job.path}/actions`, { type: 'webhook', name: 'Call', data });
  await ann.creates(`${job.path}/actions/${id}/job-action-run-conditions`, { type: 'always' });
  const file = { 'content-type': 'text/csv' };
  await expectStatus(ann.request('PUT', `/api${job.path}/actions/${id}/action-file-contents`, 'a,b\n1,2\n', file), 200);
  await expectStatus(ann.post(job.path, {}), 200);
  return { ...job, file: `${job.path}/actions/${id}/action-file-contents`, actions: `${job.path}/actions` };
}

/** Backs up a service and restores it elsewhere. Returns where, and the archive. */
async function moveElsewhere({ databaseUrl, platform }: Service) {
  const [target, folder, away] = [await createDatabase('template0'), newFolder(), newFolder()];
  const archive = join(away.path, 'jobs.backup');
  await writeBackup(databaseUrl, platform.config, archive);
  const bytes = await readFile(archive);
  await restoreBackup(target.url, readConfig({ DATA_DIR: folder.path, APP_SECRET }), await openBackup(archive));
  away.remove();
  const remove = async () => {
    folder.remove();
    await target.drop();
  };
  return { databaseUrl: target.url, DATA_DIR: folder.path, plain: gunzipSync(bytes), remove };
}

test('a backup contains jobs with schedules, secrets, files and history, and no secret in plain text', async () => {
  const receiver = await startListener('127.0.0.1');
  const source = await startService(OPEN);
  const ann = await source.user('ann');
  const nightly = await createNightly(ann, urlOf(receiver));
  const paths = [nightly.path, nightly.actions, `${nightly.path}/history`, nightly.file];
  const read = (client: Client) => Promise.all(paths.map(async (path) => (await client.get(path)).body));
  const before = await read(ann);

  const elsewhere = await moveElsewhere(source);
  expect(elsewhere.plain.includes('Nightly')).toBe(true);
  for (const secret of ['hush-hush', 'topsecret']) expect(elsewhere.plain.includes(secret)).toBe(false);
  for (const table of TABLES) {
    const rows = await rowsOf(source.databaseUrl, table);
    expect(rows.length, table).toBeGreaterThan(0);
    expect(await rowsOf(elsewhere.databaseUrl, table), table).toEqual(rows);
  }
  await source.close();

  const { databaseUrl, DATA_DIR } = elsewhere;
  const restored = await startService({ ...OPEN, DATA_DIR }, { databaseUrl });
  const moved = new Client(restored.url, ann.headers, ann);
  expect(await read(moved)).toEqual(before);
  expect(before[0].nextRunAt).toMatch(/T0[23]:30:00\.000Z$/);
  expect(before[2]._embedded['svc:job-history']).toHaveLength(1);
  expect(before[3]).toBe('a,b\n1,2\n');
  // The secrets still open: a run there signs its call.
  await expectStatus(moved.post(nightly.path, {}), 200);
  expect(receiver.requests).toHaveLength(2);
  expect(receiver.requests[1]!.headers['authorization']).toBe('Bearer topsecret');
  expect(verify('hush-hush', receiver.requests[1]!)).toBe(true);
  expect((await moved.get(`${nightly.path}/history`)).body.total).toBe(2);
  await restored.close();
  await receiver.close();
  await elsewhere.remove();
});

test('a job whose time passed before the restore runs once, and then at its next time', async () => {
  // Without a worker, the due time stays.
  const source = await startService({ ...OPEN, ROLE: 'web' });
  const ann = await source.user('ann');
  const { id, path } = await createJob(ann, { interval: '30 2 * * *', intervalType: 'cron', enabled: true });
  const [due] = await runSql(
    source.databaseUrl,
    `update dws.job set next_run_at = next_run_at - interval '3 days' where id = $1 returning next_run_at as at`,
    [id],
  );
  const next = new Date((due!['at'] as Date).getTime() + 3 * DAY_MS).toISOString();
  const elsewhere = await moveElsewhere(source);
  await source.close();

  const { databaseUrl, DATA_DIR } = elsewhere;
  const restored = await startService({ ...OPEN, DATA_DIR }, { databaseUrl });
  const moved = new Client(restored.url, ann.headers, ann);
  const runs = async () => (await moved.get(`${path}/history`)).body._embedded['svc:job-history'];
  await expect.poll(async () => (await runs())[0]?.status).toBe('succeeded');
  const last = new Date(new Date(next).getTime() - DAY_MS).toISOString();
  expect(await runs()).toMatchObject([{ trigger: 'catch-up', dueAt: last }]);
  expect((await moved.get(path)).body.nextRunAt).toBe(next);
  await restored.close();
  await elsewhere.remove();
});
