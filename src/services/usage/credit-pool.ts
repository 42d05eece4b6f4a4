import type { Context } from '../../core/context.ts';
import { stalenessOf, type StalenessLevel, type SyncFailure } from '../../core/license-manager.ts';
import { monthPeriod } from './usage-period.ts';

/** The credits of a tenant in the current month, exact to six decimals. */
export interface CreditPool {
  included: number;
  used: number;
  /** At least 0. */
  remaining: number;
}

/** State of the sync with the license manager. Without one, all is null and the level is `fresh`. */
export interface CreditSync {
  /** Time of the last successful sync. */
  syncedAt: Date | null;
  /** Time of the last sync if it failed. */
  lastSyncFailedAt: Date | null;
  lastSyncFailureCode: SyncFailure | null;
  stalenessLevel: StalenessLevel;
}

/** Loads the credits of the current month. `included` is what the license manager has reported, else `CREDITS_INCLUDED`. */
export async function loadPool({ query, viewer, platform }: Context, now: Date): Promise<CreditPool> {
  const { LICENSE_MANAGER_URL: url, CREDITS_INCLUDED: included } = platform.config;
  const { start, end } = monthPeriod(now);
  const [pool] = await query<CreditPool & Record<string, unknown>>({
    text: `
      select p.included::float8 as included, p.used::float8 as used,
        greatest(p.included - p.used, 0)::float8 as remaining
      from (
        select
          coalesce((select included from dws.credit_sync where tenant_id = $1 and $4), $5::numeric) as included,
          (select coalesce(sum(credits), 0) from dws.usage_day where tenant_id = $1 and day between $2 and $3) as used
      ) p`,
    values: [viewer.tenantId, start, end, url !== undefined, included],
  });
  return pool!;
}

/** Loads the state of the sync with the license manager. */
export async function loadSync({ query, viewer, platform }: Context, now: Date): Promise<CreditSync> {
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
