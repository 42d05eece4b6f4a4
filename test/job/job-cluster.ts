import { join } from 'node:path';
import type { Client } from '../support/client.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import {
  ADMIN_PASSWORD,
  byToken,
  logIn,
  newFolder,
  startProcess,
  type ServiceProcess,
} from '../support/service-process.ts';
import { test as base } from './job-fixture.ts';

/** A web process of the compiled service. The test starts workers on its database. */
export interface JobCluster {
  /** A superuser. */
  caller: Client;
  /** Starts a worker process. It ends with the test at the latest. */
  startWorker(variables?: Record<string, string>): Promise<ServiceProcess>;
  databaseUrl: string;
  /** Runs SQL in the database of the service. */
  sql(text: string, values?: unknown[]): ReturnType<typeof runSql>;
  /** Calls a function at the end of the test. */
  onEnd(close: () => Promise<unknown>): void;
}

export const test = base.extend<{ cluster: JobCluster }>({
  cluster: async ({}, use) => {
    const stack = new AsyncDisposableStack();
    const onEnd: JobCluster['onEnd'] = (close) =>
      stack.defer(async () => {
        await close();
      });
    const database = await createDatabase();
    onEnd(database.drop);
    const folder = newFolder();
    onEnd(async () => folder.remove());
    const shared = {
      DATABASE_URL: database.url,
      DATA_DIR: folder.path,
      APP_SECRET: 'a secret of several processes of enough characters',
      ADMIN_PASSWORD,
      OUTBOUND_ALLOW: '127.0.0.1',
      // Halves the time in which a process starts.
      NODE_COMPILE_CACHE: join(folder.path, 'compiled'),
    };
    const start = async (variables: Record<string, string>) => {
      const service = await startProcess({ ...shared, ...variables });
      onEnd(() => service.end('SIGKILL'));
      return service;
    };
    const web = await start({ ROLE: 'web' });
    await use({
      caller: await byToken(await logIn(web.url)),
      startWorker: (variables) => start({ ROLE: 'worker', ...variables }),
      databaseUrl: database.url,
      sql: (text, values) => runSql(database.url, text, values),
      onEnd,
    });
    await stack.disposeAsync();
  },
});
