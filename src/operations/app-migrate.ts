import type { AppMigrationRun } from '../../entities/app-migration.ts';
import { App } from '../../entities/app.ts';
import { Datasource } from '../../entities/datasource.ts';
import { DATASOURCE } from '../../entities/owned-kinds.ts';
import { schemaNameOf, type WorkspaceKey } from '../core/app-workspace.ts';
import { notFound } from '../core/errors.ts';
import { newRow } from '../core/new-row.ts';
import type { Platform } from '../core/platform.ts';
import { loadMigrationFiles, type MigrationRow } from '../services/app/app-migration.ts';
import { setSlug } from '../services/resource/resource-slug.ts';
import type { Handler, RunningClaim } from './handler.ts';
import { withQueryTimeout } from './query-timeout.ts';

/** Runs the pending migrations of an app. The first run creates its workspace, and the datasource that reads it. */
export const appMigrate: Handler<'app.migrate'> = {
  takeover: false,
  async run(job, platform) {
    const { appId, dryRun } = job.input;
    const result = await runMigrations(platform, job, { tenantId: job.tenantId, appId }, dryRun);
    return { publish: async () => result };
  },
};

/** Runs the pending migrations of an app, with the progress of a job. Throws UPSTREAM_FAILED with file and line. */
export async function runMigrations(
  platform: Platform,
  job: Pick<RunningClaim, 'signal' | 'progress'>,
  key: WorkspaceKey,
  dryRun: boolean,
): Promise<AppMigrationRun> {
  const { tenantId, appId } = key;
  const files = await loadMigrationFiles((statement) => platform.database.query(tenantId, statement), tenantId, appId);
  const total = files.length;
  job.progress({ current: 0, total });
  if (total === 0) return { migrated: [], total };
  const migrated = await withQueryTimeout(platform, job, (signal) => {
    const onFile = (current: number) => job.progress({ current, total });
    return runFiles(platform, key, files, { dryRun, signal, onFile });
  });
  return { migrated, total };
}

async function runFiles(
  platform: Platform,
  key: WorkspaceKey,
  files: readonly MigrationRow[],
  run: Parameters<Platform['workspaces']['migrate']>[2],
): Promise<string[]> {
  await platform.workspaces.provision(key);
  // Before the first file runs, because its tables exist even if a later file fails.
  if (!run.dryRun) await recordWorkspace(platform, key);
  return platform.workspaces.migrate(
    key,
    files.map(({ filename, fileId, sha256 }) => ({
      filename,
      checksum: sha256,
      read: async () => (await platform.files.read(fileId)) ?? missing(filename),
    })),
    run,
  );
}

function missing(filename: string): never {
  throw notFound({ what: 'contents of the migration', id: filename });
}

/** Records the schema of an app and creates its datasource, unless an earlier run has. */
async function recordWorkspace({ database }: Platform, key: WorkspaceKey): Promise<void> {
  const { tenantId, appId } = key;
  await database.transaction(tenantId, async (tx) => {
    const app = await tx.findOne(App, { id: appId }, { lock: 'update' });
    if (!app) throw notFound({ what: 'app', id: appId });
    app.schemaName = schemaNameOf(key);
    if (await tx.findOne(Datasource, { appId })) return;
    const { name, ownerId } = app;
    const datasource = newRow(Datasource, {
      tenantId,
      name,
      ownerId,
      type: 'app',
      config: { appId },
      embedded: true,
      appId,
    });
    await setSlug(tx, DATASOURCE, datasource);
    tx.insert(datasource);
  });
}
