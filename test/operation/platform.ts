import { join } from 'node:path';
import { pino } from 'pino';
import { openAiClient } from '../../src/adapters/ai/ai-client.ts';
import { openAppWorkspaces } from '../../src/adapters/app-workspace/app-workspaces.ts';
import { openPdfPrinter } from '../../src/adapters/browser/chromium-printer.ts';
import { Listener } from '../../src/adapters/database/listener.ts';
import { SystemPool } from '../../src/adapters/database/system-pool.ts';
import { openTenantDatabase } from '../../src/adapters/database/tenant-database.ts';
import { indexLocation, openIndex } from '../../src/adapters/dataset-index/open-index.ts';
import { createDrivers } from '../../src/adapters/drivers/driver-registry.ts';
import { createDrives } from '../../src/adapters/drives/drive-list.ts';
import { openFileStore } from '../../src/adapters/files/file-store.ts';
import { openMcpClient } from '../../src/adapters/mcp/mcp-client.ts';
import { openOutboundClient } from '../../src/adapters/outbound/outbound-client.ts';
import { openQueue, type PgBossQueue } from '../../src/adapters/queue/pg-boss.ts';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import { createSecretBox } from '../../src/adapters/secrets/secret-box.ts';
import { createTemplateEngines } from '../../src/adapters/template-engine/engine-list.ts';
import { readConfig } from '../../src/core/config.ts';
import { CHANNELS } from '../../src/core/operations.ts';
import type { Platform } from '../../src/core/platform.ts';
import type { Handlers } from '../../src/operations/handler.ts';
import type { LoaderOptions } from '../../src/operations/load-job.ts';
import { startReconciler, type ReconcilerOptions } from '../../src/operations/reconciler.ts';
import { startRunner, type RunnerOptions } from '../../src/operations/runner.ts';
import { OPERATION_ENDS } from '../../src/services/assembly/operation-ends.ts';
import { USER_BELONGINGS } from '../../src/services/assembly/user-belongings.ts';

export interface TestPlatform {
  platform: Platform;
  queue: PgBossQueue;
  loaders: LoaderOptions;
  close(): Promise<void>;
}

/** Opens what a process of the service opens at its start, as far as operations require it. */
export async function openTestPlatform(url: string, dataDir: string): Promise<TestPlatform> {
  const config = readConfig({ DATABASE_URL: url, DATA_DIR: dataDir, OUTBOUND_ALLOW: '127.0.0.1' });
  const log = pino({ level: process.env.LOG_LEVEL ?? 'silent' });
  const database = openTenantDatabase(url, 6);
  const system = new SystemPool(url);
  const notifications = new Listener(url, Object.values(CHANNELS));
  await notifications.start();
  const queue = await openQueue({ url, log, maxDurationMs: config.REFRESH_TIMEOUT_MS });
  const location = indexLocation(config, 'test');
  const index = await openIndex(location);
  const sandbox = openSandbox();
  const secrets = createSecretBox('a secret of the tests');
  const workspaces = openAppWorkspaces({
    databaseUrl: url,
    appsDatabaseUrl: undefined,
    system,
    secrets,
    installationId: 'test',
    limitOf: async () => ({ quota: Infinity, others: 0, refusal: null }),
    memoryBytes: 0,
  });
  const { drivers } = createDrivers({ ownDatabase: null, workspaces });
  const outbound = openOutboundClient({ allowed: config.OUTBOUND_ALLOW });
  const platform: Platform = {
    config,
    log,
    database,
    queue,
    operationEnds: OPERATION_ENDS,
    index,
    drivers,
    drives: createDrives(),
    freeBytes: async () => Infinity,
    files: openFileStore(join(dataDir, 'files')),
    notifications,
    workspaces,
    secrets,
    outbound,
    ai: openAiClient({ outbound }),
    mcp: openMcpClient({ outbound, version: '1.2.3' }),
    licenseManager: null,
    internalApi: null,
    documents: null,
    schemas: null,
    belongings: USER_BELONGINGS,
    pdfPrinter: openPdfPrinter({ path: config.CHROMIUM_PATH, log }),
    sandbox,
    templateEngines: createTemplateEngines(sandbox),
    publicUrl: 'http://localhost',
    system,
  };
  return {
    platform,
    queue,
    loaders: { databaseUrl: url, index: location },
    async close() {
      await platform.pdfPrinter.close();
      await sandbox.close();
      await workspaces.close();
      await queue.close();
      await notifications.close();
      await index.close();
      await system.close();
      await database.close();
    },
  };
}

/** Options of a worker with short pauses and timeouts, in milliseconds. */
export const QUICK: RunnerOptions & ReconcilerOptions = {
  heartbeat: 300,
  shutdownTimeout: 300,
  interval: 300,
  heartbeatTimeout: 3000,
  retention: 7 * 86_400_000,
  replacedAge: 600_000,
  orphanAge: 0,
  fileAge: 3_600_000,
  sweepTimeout: 15_000,
};

/** Starts a worker with the options `QUICK` on an open platform. */
export async function startQuickWorker(
  { platform, queue }: Pick<TestPlatform, 'platform' | 'queue'>,
  handlers: Handlers,
): Promise<{ stop(): Promise<void> }> {
  const runner = await startRunner(platform, queue, handlers, QUICK);
  const reconciler = startReconciler(platform, handlers, QUICK);
  return {
    async stop() {
      await reconciler.stop();
      await runner.stop();
    },
  };
}
