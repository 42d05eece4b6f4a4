import pg from 'pg';
import { SystemPool } from '../../adapters/database/system-pool.ts';
import { startEmbeddedPostgres, runningEmbeddedPostgres } from '../../adapters/embedded-postgres/embedded-postgres.ts';
import { readConfig, type Config } from '../../core/config.ts';
import { openDataDir } from '../data-dir.ts';
import { migrate } from '../migrate.ts';
import { checkDatabaseUrl } from '../start-checks.ts';

/** The database of a command. */
interface OperatorDatabase {
  url: string;
  /** Whether the embedded Postgres was started for this command, so that nothing else uses it. */
  ownStart: boolean;
}

/**
 * Runs `work` on the service's database: `DATABASE_URL`, otherwise the embedded Postgres of `DATA_DIR`. If no process
 * runs the embedded Postgres, it is started for the duration of `work`.
 */
export async function withDatabase<T>(config: Config, work: (database: OperatorDatabase) => Promise<T>): Promise<T> {
  if (config.DATABASE_URL) await checkDatabaseUrl(config.DATABASE_URL);
  const running = config.DATABASE_URL ?? runningEmbeddedPostgres(config.DATA_DIR);
  if (running) return work({ url: running, ownStart: false });
  const postgres = await startEmbeddedPostgres({ dataDir: openDataDir(config.DATA_DIR, true) });
  try {
    return await work({ url: postgres.url, ownStart: true });
  } finally {
    await postgres.close();
  }
}

/** Runs `work` with a connection to the service's database, as the login of its URL. `name` is shown by Postgres. */
export function withClient<T>(
  config: Config,
  name: string,
  work: (client: pg.Client, database: OperatorDatabase) => Promise<T>,
): Promise<T> {
  return withDatabase(config, async (database) => {
    const client = new pg.Client({ connectionString: database.url, application_name: name });
    await client.connect();
    try {
      return await work(client, database);
    } finally {
      await client.end();
    }
  });
}

/**
 * Runs `work` across tenants. Migrates a database that only this command uses; for others the error names `dws
 * migrate`.
 */
export function withSystem<T>(work: (system: SystemPool) => Promise<T>): Promise<T> {
  return withDatabase(readConfig(), async ({ url, ownStart }) => {
    if (ownStart) await migrate(url);
    const system = new SystemPool(url);
    try {
      return await work(system);
    } catch (error) {
      throw isUnmigrated(error)
        ? new Error('The database is not up to date: run `dws migrate`, or start the service once')
        : error;
    } finally {
      await system.close();
    }
  });
}

/** Returns whether an error of Postgres is about a missing role, schema, table or column. */
const isUnmigrated = (error: unknown): boolean =>
  ['22023', '3F000', '42P01', '42703'].includes((error as { code?: string }).code ?? '');
