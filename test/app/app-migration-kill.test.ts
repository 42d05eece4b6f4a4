import { expect } from 'vitest';
import { createHandlers } from '../../src/operations/handlers.ts';
import { startQuickWorker, openTestPlatform } from '../operation/platform.ts';
import { startWorkerProcess, type WorkerProcess } from '../operation/processes.ts';
import { test as base } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { startService, type Service } from '../support/service.ts';
import { createApp, putFile } from './app-fixture.ts';
import { appsUrl } from './workspace-fixture.ts';

/** A service whose operations run in worker processes of the test. */
const test = base.extend<{ web: Service }>({
  web: async ({}, use) => {
    const service = await startService({ ROLE: 'web' });
    await use(service);
    await service.close();
  },
});

test('a run whose worker is killed is recorded as failed, and its file is undone', async ({ web }) => {
  const admin = await web.user('admin', { superuser: true });
  const id = await createApp(admin, 'Killed', {
    'migrations/1.sql': 'create table a (id int)',
    'migrations/2.sql': 'create table b (id int); select pg_sleep(60); create table c (id int)',
    'migrations/3.sql': 'create table d (id int)',
  });
  const { DATA_DIR: dataDir } = web.platform.config;
  const url = web.databaseUrl;
  const worker: WorkerProcess = await startWorkerProcess({ url, dataDir, handlers: 'real' });
  await admin.post(`/apps/${id}/_migrate`, { progress: 'mine' }, { prefer: 'respond-async' });
  const sleeping = () =>
    runSql(
      url,
      `select pid from pg_stat_activity
      where datname = $1 and usename like 'app_%_owner' and query like '%pg_sleep%' and state = 'active'`,
      [new URL(appsUrl(url)).pathname.slice(1)],
    );
  while ((await sleeping()).length === 0);
  await worker.kill('SIGKILL');
  const platform = await openTestPlatform(url, dataDir);
  const recovering = await startQuickWorker(platform, createHandlers(platform.loaders));
  let operation: { status: string; error: { message: string } };
  do ({ body: operation } = await admin.get('/progress/mine'));
  while (operation.status === 'running');
  expect(operation).toMatchObject({
    status: 'failed',
    error: { message: 'The worker process ended before the operation was done' },
  });
  const tables = async () =>
    (
      await runSql(
        appsUrl(url),
        `select relname as name from pg_class where relnamespace::regnamespace::text like 'app_%' and relkind = 'r' order by 1`,
      )
    ).map(({ name }) => name);
  expect(await tables()).toEqual(['_migrations', 'a']);
  // The next run waits until the server has noticed that the process is gone.
  await putFile(admin, id, 'migrations/2.sql', 'create table b (id int)');
  expect(await admin.post(`/apps/${id}/_migrate`)).toMatchObject({
    status: 200,
    body: { migrated: ['2.sql', '3.sql'], total: 3 },
  });
  expect(await tables()).toEqual(['_migrations', 'a', 'b', 'd']);
  await recovering.stop();
  await platform.close();
});
