import { join } from 'node:path';
import type { Logger } from 'pino';
import { Listener } from '../adapters/database/listener.ts';
import { SystemPool } from '../adapters/database/system-pool.ts';
import { openTenantDatabase } from '../adapters/database/tenant-database.ts';
import { indexPlace, openIndex } from '../adapters/dataset-index/open-index.ts';
import { createDrivers } from '../adapters/drivers/driver-registry.ts';
import { DATABASE_IDENTITY_SQL, type DatabaseIdentity } from '../adapters/drivers/source-guard.ts';
import { openFileStore } from '../adapters/files/file-store.ts';
import { openQueue, type PgBossQueue } from '../adapters/queue/pg-boss.ts';
import { createSecretBox } from '../adapters/secrets/secret-box.ts';
import type { Config } from '../core/config.ts';
import { CHANNELS } from '../core/operations.ts';
import type { Platform, SystemDatabase } from '../core/platform.ts';
import type { LoaderPlace } from '../operations/load-job.ts';
import { checkKeyRing, loadInstallationId } from '../services/identity/bootstrap.ts';
import { registerModels } from '../services/resource/model-registry.ts';
import { keyRing } from './app-secret.ts';

/** The platform of one process, and how to let go of it. */
export interface OpenPlatform {
  platform: Platform;
  queue: PgBossQueue;
  /** Where loaders of this process find what they need. */
  loaders: LoaderPlace;
  close(): Promise<void>;
}

/** Opens everything a process needs on a migrated database at `url`. What was opened is closed again when something fails. */
export async function openPlatform(config: Config, url: string, log: Logger, publicUrl: string): Promise<OpenPlatform> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.reverse().splice(0))
      await closer().catch((error: unknown) => log.warn({ err: error }, 'Something did not close'));
  };
  try {
    const system = new SystemPool(url);
    closers.push(() => system.close());
    const secrets = createSecretBox(keyRing(config.APP_SECRET, config.DATA_DIR));
    await checkKeyRing(system, secrets);

    const notifications = new Listener(url, Object.values(CHANNELS));
    closers.push(() => notifications.close());
    await notifications.start();
    const database = await openTenantDatabase(url, 12);
    closers.push(() => database.close());
    registerModels(database.orm);
    const queue = await openQueue({ url, log, longest: config.REFRESH_TIMEOUT_MS });
    closers.push(() => queue.close());
    const place = indexPlace(config, await loadInstallationId(system));
    const index = await openIndex(place);
    closers.push(() => index.close());

    const own = await ownIdentity(system, log);
    const { drivers } = createDrivers({ ownDatabase: own });
    return {
      platform: {
        config,
        log,
        database,
        system,
        notifications,
        queue,
        index,
        drivers,
        files: openFileStore(join(config.DATA_DIR, 'files')),
        secrets,
        publicUrl,
      },
      queue,
      loaders: { databaseUrl: url, index: place },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Which database is our own, so that no datasource may name it. Without an answer the guard cannot tell, and whoever runs the service should know. */
async function ownIdentity(system: SystemDatabase, log: Logger): Promise<DatabaseIdentity | null> {
  try {
    const [own] = await system.query<DatabaseIdentity & Record<string, unknown>>({ text: DATABASE_IDENTITY_SQL });
    return own ?? null;
  } catch (error) {
    log.warn(
      { err: error },
      "Postgres does not tell its system identifier: datasources that name the service's own database will not be recognised",
    );
    return null;
  }
}
