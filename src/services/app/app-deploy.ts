import type { Context } from '../../core/context.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { concurrencyKeyOf, loadForMigrations } from './app-part.ts';

/** Deploys an app. Returns the operation; with `wait` after it ended. */
export const deploy = (
  ctx: Context,
  id: string,
  { progress }: { progress?: string | null },
  wait: boolean,
): Promise<OperationRecord> =>
  startInTransaction(ctx, wait, async (tx) => {
    const app = await loadForMigrations(ctx, tx, id, 'app:write');
    return operations.start(ctx, tx, {
      operation: 'app.deploy',
      resource: { kind: 'app', id: app.id },
      input: { appId: app.id },
      progress: progress ?? null,
      unit: 'migrations',
      concurrencyKey: concurrencyKeyOf(app.id),
    });
  });
