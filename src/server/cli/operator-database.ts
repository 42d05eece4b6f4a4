import { SystemPool } from '../../adapters/database/system-pool.ts';
import { startEmbeddedPostgres, runningEmbeddedPostgres } from '../../adapters/embedded-postgres/embedded-postgres.ts';
import { readConfig, type Config } from '../../core/config.ts';
import { migrate } from '../migrate.ts';

/** The database that a command works on. */
export interface OperatorDatabase {
  url: string;
  /** Nothing else uses it: the embedded Postgres was started for this command. */
  ownStart: boolean;
}

/**
 * Runs `work` on the service's database: that of `DATABASE_URL`, else the embedded Postgres of `DATA_DIR`, which is started for as long as it takes
 * when no process runs it.
 */
export async function withDatabase<T>(config: Config, work: (database: OperatorDatabase) => Promise<T>): Promise<T> {
  const running = config.DATABASE_URL ?? runningEmbeddedPostgres(config.DATA_DIR);
  if (running) return work({ url: running, ownStart: false });
  const postgres = await startEmbeddedPostgres({ dataDir: config.DATA_DIR });
  try {
    return await work({ url: postgres.url, ownStart: true });
  } finally {
    await postgres.close();
  }
}

/** Runs `work` across tenants on a migrated database. One that only this command uses is migrated first; of others the sentence says what to do. */
export function withSystem<T>(work: (system: SystemPool) => Promise<T>): Promise<T> {
  return withDatabase(readConfig(), async ({ url, ownStart }) => {
    if (ownStart) await migrate(url);
    const system = new SystemPool(url);
    try {
      return await work(system);
    } catch (error) {
      throw isUnmigrated(error)
        ? new Error('The database has no tables of this version yet: run `dws migrate`, or start the service once')
        : error;
    } finally {
      await system.close();
    }
  });
}

/** Postgres' codes for a missing role, schema, table or column. */
const isUnmigrated = (error: unknown): boolean =>
  ['22023', '3F000', '42P01', '42703'].includes((error as { code?: string }).code ?? '');
