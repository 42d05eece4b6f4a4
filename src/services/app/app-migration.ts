import type { AppMigration } from '../../../entities/app-migration.ts';
import type { Context } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { byCodePoints, migrationOf } from './app-migration-path.ts';
import { concurrencyKeyOf, loadForMigrations } from './app-part.ts';

interface MigrateOptions {
  progress?: string | number | null;
  dryRun?: boolean | null;
}

/** Runs the pending migrations of an app. Returns the operation; with `wait` after it ended. */
export const migrate = (
  ctx: Context,
  id: string,
  { progress, dryRun }: MigrateOptions,
  wait: boolean,
): Promise<OperationRecord> =>
  startInTransaction(ctx, wait, async (tx) => {
    const app = await loadForMigrations(ctx, tx, id, 'app:write');
    return operations.start(ctx, tx, {
      operation: 'app.migrate',
      resource: { kind: 'app', id: app.id },
      input: { appId: app.id, dryRun: dryRun ?? false },
      progress: progress ?? null,
      unit: 'migrations',
      concurrencyKey: concurrencyKeyOf(app.id),
    });
  });

/** A migration among the files of an app. */
export interface MigrationRow {
  filename: string;
  fileId: string;
  sha256: string;
}

/** Returns the migrations among the files of an app, in the order in which they run. */
export async function loadMigrationFiles(query: Query, tenantId: string, appId: string): Promise<MigrationRow[]> {
  const rows = await query<{ path: string; fileId: string; sha256: string }>({
    text: `
      select a.path, a.file_id as "fileId", f.sha256
      from dws.app_file a
      join dws.stored_file f on f.tenant_id = a.tenant_id and f.id = a.file_id
      where a.tenant_id = $1 and a.app_id = $2 and starts_with(a.path, 'migrations/')`,
    values: [tenantId, appId],
  });
  return rows
    .flatMap(({ path, fileId, sha256 }) => {
      const filename = migrationOf(path);
      return filename === null ? [] : [{ filename, fileId, sha256 }];
    })
    .toSorted((one, other) => byCodePoints(one.filename, other.filename));
}

/** Returns the migrations of an app with their status, in the order in which they run. */
export async function listMigrations(
  ctx: Context,
  { id: appId, schemaName }: { id: string; schemaName?: string | null },
): Promise<AppMigration[]> {
  const { tenantId } = ctx.viewer;
  const files = await loadMigrationFiles(ctx.query, tenantId, appId);
  const applied = schemaName ? await ctx.platform.workspaces.appliedMigrations({ tenantId, appId }) : [];
  const times = new Map(applied.map(({ filename, appliedAt }) => [filename, appliedAt]));
  return files.map(({ filename }) => ({
    filename,
    status: times.has(filename) ? 'applied' : 'pending',
    appliedAt: times.get(filename) ?? null,
  }));
}
