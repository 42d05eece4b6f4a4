import type { Context } from '../../core/context.ts';
import { stalenessOf, type StalenessLevel, type SyncFailure } from '../../core/license-manager.ts';

/** State of the sync with the license manager. Without one, all is null and the level is `fresh`. */
export interface CreditSync {
  /** Time of the last successful sync. */
  syncedAt: Date | null;
  /** Time of the last sync if it failed. */
  lastSyncFailedAt: Date | null;
  lastSyncFailureCode: SyncFailure | null;
  stalenessLevel: StalenessLevel;
}

/** Loads the state of the sync with the license manager. */
export async function loadCreditSync({ query, viewer, platform }: Context, now: Date): Promise<CreditSync> {
  if (platform.config.LICENSE_MANAGER_URL === undefined)
    return { syncedAt: null, lastSyncFailedAt: null, lastSyncFailureCode: null, stalenessLevel: 'fresh' };
  const [sync] = await query<Omit<CreditSync, 'stalenessLevel'> & Record<string, unknown>>({
    text: `
      select synced_at as "syncedAt", failed_at as "lastSyncFailedAt", failure_code as "lastSyncFailureCode"
      from dws.credit_sync
      where tenant_id = $1`,
    values: [viewer.tenantId],
  });
  const state = sync ?? { syncedAt: null, lastSyncFailedAt: null, lastSyncFailureCode: null };
  return { ...state, stalenessLevel: stalenessOf(state.syncedAt, now) };
}
