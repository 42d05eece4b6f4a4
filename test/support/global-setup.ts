import { rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/adapters/embedded-postgres/embedded-postgres.ts';
import { migrate } from '../../src/server/migrate.ts';
import { throwAwayFolder } from '../../tools/engine.ts';
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
  const dataDir = throwAwayFolder('test');
  const postgres = await startEmbeddedPostgres({ dataDir, durable: false });
  try {
    await makeTemplate(postgres.url);
  } catch (error) {
    await postgres.close();
    rmSync(dataDir, { recursive: true, force: true });
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
      rmSync(dataDir, { recursive: true, force: true });
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
