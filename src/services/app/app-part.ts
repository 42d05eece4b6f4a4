import type { App } from '../../../entities/app.ts';
import { APP } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { conflict, forbidden } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { levelAllows, type ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { lockConcurrencyKey } from '../operation/operation-queue.ts';
import { accessLevel, type AccessColumns } from '../resource/access-level.ts';
import { findResourceId, loadResource, type ExpectedVersion } from '../resource/load-resource.ts';

/** Returns the concurrency key under which the migrations of an app run, one operation at a time. */
export const concurrencyKeyOf = (appId: string): string => `app:${appId}`;

/** Throws FORBIDDEN unless the caller may write an app that they can read. */
export async function checkMayWrite(ctx: Context, app: AccessColumns): Promise<void> {
  if (!levelAllows(await accessLevel(ctx, app), 'app:write')) throw forbidden({ permission: 'app:write' });
}

/**
 * Loads an app for a change that concerns its migrations, and locks it. Locks the concurrency key first, in the order in
 * which an operation ends.
 */
export async function loadForMigrations(
  ctx: Context,
  tx: Transaction,
  id: string,
  permission: ResourcePermission,
  expected: ExpectedVersion = {},
): Promise<App> {
  const appId = isUuid(id) ? id.toLowerCase() : await findResourceId(ctx, tx, APP.table, id);
  if (appId) lockConcurrencyKey(tx, concurrencyKeyOf(appId));
  return loadResource(ctx, tx, APP, id, permission, expected);
}

/** Throws CONFLICT while migrations of an app run or wait. The app was loaded with `loadForMigrations`. */
export async function checkNoMigrationRuns(tx: Transaction, { tenantId, id }: App): Promise<void> {
  const [running] = await tx.query({
    text: `select from dws.operation where tenant_id = $1 and concurrency_key = $2 and finished_at is null limit 1`,
    values: [tenantId, concurrencyKeyOf(id)],
  });
  if (running) throw conflict('The migrations of the app are running');
}
