import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/adapters/embedded-postgres/embedded-postgres.ts';
import { migrate } from '../../src/server/migrate.ts';
import { openEngineBroker } from './engine-broker.ts';
import { leftOut } from './engine-presence.ts';
import { runSql } from './run-sql.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the temporary Postgres of this run: its empty database `dws`, as superuser. */
    postgres: { url: string };
    /** Where test/support/engines.ts requests the engines that only some tests need. */
    engines: { url: string };
  }
}

/**
 * Starts one Postgres for the whole run, with the migrated database `tpl` from which every test's own database is
 * copied.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await throwAwayFolder();
  const postgres = await startEmbeddedPostgres({ dataDir, durable: false });
  try {
    await makeTemplate(postgres.url);
  } catch (error) {
    await postgres.close();
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
  const engines = await openEngineBroker();
  project.provide('postgres', { url: postgres.url });
  project.provide('engines', { url: engines.url });

  return async () => {
    await engines.close();
    for (const what of leftOut()) console.log(`NOT TESTED HERE: ${what}`);
    const left = await runSql(postgres.url, `select datname from pg_database where datname like 't\\_%'`);
    await postgres.close();
    if (left.length > 0 && project.vitest.state.getCountOfFailedTests() > 0 && !process.env.CI) {
      console.error(
        `The databases of failed tests are kept until the next run: node tools/open-postgres.ts ${dataDir}`,
      );
    } else {
      await rm(dataDir, { recursive: true, force: true });
    }
  };
}

/**
 * Creates the template with the current schema. No connection may be open to a template, so afterwards connections are
 * refused.
 */
async function makeTemplate(url: string): Promise<void> {
  await runSql(url, 'create database tpl');
  await migrate(url.replace(/dws$/, 'tpl'));
  await runSql(url, 'alter database tpl with allow_connections false');
}

/**
 * Creates a folder named after this process and removes those of processes that have ended. Root's own TMPDIR may be
 * closed to the user who runs Postgres.
 */
async function throwAwayFolder(): Promise<string> {
  const base = process.getuid?.() === 0 ? '/tmp' : tmpdir();
  for (const name of await readdir(base)) {
    const pid = /^dws-test-(\d+)-/.exec(name)?.[1];
    if (pid && !isAlive(Number(pid)))
      await rm(join(base, name), { recursive: true, force: true }).catch(() => undefined);
  }
  const folder = await mkdtemp(join(base, `dws-test-${process.pid}-`));
  await chmod(folder, 0o711);
  return folder;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
