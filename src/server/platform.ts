import { join } from 'node:path';
import type { Logger } from 'pino';
import { openAiClient } from '../adapters/ai/ai-client.ts';
import { openAppWorkspaces } from '../adapters/app-workspace/app-workspaces.ts';
import { openPdfPrinter } from '../adapters/browser/chromium-printer.ts';
import { Listener } from '../adapters/database/listener.ts';
import { SystemPool } from '../adapters/database/system-pool.ts';
import { openTenantDatabase } from '../adapters/database/tenant-database.ts';
import { indexLocation, openIndex } from '../adapters/dataset-index/open-index.ts';
import { createDrivers } from '../adapters/drivers/driver-registry.ts';
import { readOwnDatabase } from '../adapters/drivers/own-database.ts';
import type { DatabaseIdentity } from '../adapters/drivers/source-guard.ts';
import { createDrives } from '../adapters/drives/drive-list.ts';
import { freeBytesOf, openFileStore } from '../adapters/files/file-store.ts';
import { createLicenseManager } from '../adapters/license-manager/license-manager.ts';
import { openMcpClient } from '../adapters/mcp/mcp-client.ts';
import { openOutboundClient } from '../adapters/outbound/outbound-client.ts';
import { openQueue, type PgBossQueue } from '../adapters/queue/pg-boss.ts';
import { openSandbox } from '../adapters/sandbox/sandbox.ts';
import { createSecretBox } from '../adapters/secrets/secret-box.ts';
import { createTemplateEngines } from '../adapters/template-engine/engine-list.ts';
import type { Config } from '../core/config.ts';
import type { LicenseManager } from '../core/license-manager.ts';
import { CHANNELS } from '../core/operations.ts';
import type { Platform, SystemDatabase } from '../core/platform.ts';
import type { LoaderOptions } from '../operations/load-job.ts';
import { registerModels } from '../services/assembly/model-registry.ts';
import { OPERATION_ENDS } from '../services/assembly/operation-ends.ts';
import { USER_BELONGINGS } from '../services/assembly/user-belongings.ts';
import { loadInstallationId } from '../services/identity/bootstrap.ts';
import { tableLimitOf } from '../services/resource/storage-limit.ts';
import { checkKeyRing } from '../services/secrets/sealed-values.ts';
import { keyRing } from './app-secret.ts';
import { VERSION } from './package-root.ts';
import { tracePlatform } from './tracing.ts';

/** The platform of one process, and how to close it. */
export interface OpenPlatform {
  platform: Platform;
  queue: PgBossQueue;
  /** Connection settings for loader processes of this process. */
  loaders: LoaderOptions;
  close(): Promise<void>;
}

/**
 * Opens everything that a process needs. `url` must name a migrated database. Closes everything again on failure.
 */
export async function openPlatform(config: Config, url: string, log: Logger, publicUrl: string): Promise<OpenPlatform> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.reverse().splice(0))
      await closer().catch((error: unknown) => log.warn({ err: error }, 'Closing failed'));
  };
  try {
    const system = new SystemPool(url);
    closers.push(() => system.close());
    const secrets = createSecretBox(keyRing(config.APP_SECRET, config.DATA_DIR));
    await checkKeyRing((statement) => system.query(statement), secrets);

    const notifications = new Listener(url, Object.values(CHANNELS));
    closers.push(() => notifications.close());
    await notifications.start();
    const database = openTenantDatabase(url, 12);
    closers.push(() => database.close());
    registerModels(database.metadata);
    const queue = await openQueue({ url, log, maxDurationMs: config.REFRESH_TIMEOUT_MS });
    closers.push(() => queue.close());
    const installationId = await loadInstallationId(system);
    const location = indexLocation(config, installationId);
    const index = await openIndex(location);
    closers.push(() => index.close());

    const outbound = openOutboundClient({ allowed: config.OUTBOUND_ALLOW });
    closers.push(() => outbound.close());
    const licenseManager = openLicenseManager(config);
    closers.push(async () => licenseManager?.close());
    const pdfPrinter = openPdfPrinter({ path: config.CHROMIUM_PATH, log });
    closers.push(() => pdfPrinter.close());

    const sandbox = openSandbox({ handlers: config.SANDBOX_PROCESSES });
    closers.push(() => sandbox.close());

    const own = await findOwnIdentity(system, log);
    const workspaces = openAppWorkspaces({
      databaseUrl: url,
      appsDatabaseUrl: config.APPS_DATABASE_URL,
      system,
      secrets,
      installationId,
      limitOf: (key) => tableLimitOf(platform, key),
      memoryBytes: config.APPS_MEMORY_BYTES,
    });
    closers.push(() => workspaces.close());
    const { drivers } = createDrivers({ ownDatabase: own, workspaces });
    const platform: Platform = await tracePlatform<Platform>({
      config,
      log,
      database,
      system,
      notifications,
      queue,
      operationEnds: OPERATION_ENDS,
      index,
      drivers,
      drives: createDrives(),
      freeBytes: () => freeBytesOf(config.DATA_DIR),
      files: openFileStore(join(config.DATA_DIR, 'files')),
      workspaces,
      secrets,
      outbound,
      ai: openAiClient({ outbound }),
      mcp: openMcpClient({ outbound, version: VERSION }),
      licenseManager,
      internalApi: null,
      documents: null,
      schemas: null,
      pdfPrinter,
      sandbox,
      templateEngines: createTemplateEngines(sandbox),
      belongings: USER_BELONGINGS,
      publicUrl,
    });
    return {
      platform,
      queue,
      loaders: { databaseUrl: url, index: location },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the client of the license manager, whose host the operator names: its address may be private. */
function openLicenseManager({ LICENSE_MANAGER_URL: url }: Config): LicenseManager | null {
  if (url === undefined) return null;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return createLicenseManager({ url, client: openOutboundClient({ allowed: [host] }) });
}

/**
 * Returns the identity of the service's own database, which no datasource may use. Logs a warning and returns null when
 * Postgres refuses to return it.
 */
async function findOwnIdentity(system: SystemDatabase, log: Logger): Promise<DatabaseIdentity | null> {
  try {
    return await readOwnDatabase(system);
  } catch (error) {
    log.warn(
      { err: error },
      "Cannot read the system identifier of Postgres: datasources with the service's own database are not refused",
    );
    return null;
  }
}
