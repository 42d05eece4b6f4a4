import { SyncError } from '../core/license-manager.ts';
import type { Platform } from '../core/platform.ts';
import { monthOf, monthPeriod } from '../services/usage/usage-period.ts';

/** Number of tenants that are reported concurrently. */
const CONCURRENCY = 4;
const HOUR_MS = 3_600_000;
/** Time after which a failed sync is repeated, in milliseconds. */
const RETRY_MS = 5 * 60_000;

interface DueTenant extends Record<string, unknown> {
  id: string;
  slug: string;
  /** Time of the last sync if it failed. */
  failedAt: Date | null;
}

/**
 * Reports the credits of all tenants to the license manager, and stores the included credits: once for each tenant and
 * UTC hour, in all processes. A failure of one tenant is stored, and does not stop the others. It is repeated after
 * `retryAfter` milliseconds, 0 at the start of a worker. Does nothing without a license manager.
 */
export async function syncCredits(
  platform: Platform,
  now: Date,
  signal: AbortSignal,
  retryAfter = RETRY_MS,
): Promise<void> {
  if (!platform.licenseManager) return;
  const hour = new Date(now.getTime() - (now.getTime() % HOUR_MS));
  const due = await platform.system.query<DueTenant>({
    text: `
      select t.id, t.slug, s.failed_at as "failedAt"
      from dws.tenant t
      left join dws.credit_sync s on s.tenant_id = t.id
      where s.hour is null or s.hour < $1 or s.hour = $1 and s.failed_at <= $2
      order by t.id`,
    values: [hour, new Date(now.getTime() - retryAfter)],
  });
  const remaining = due.values();
  const work = async () => {
    for (const tenant of remaining) {
      signal.throwIfAborted();
      await syncTenant(platform, tenant, { now, hour, signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        platform.log.warn({ err: error, tenant: tenant.slug }, 'Could not sync the credits of a tenant');
      });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

interface Pass {
  now: Date;
  hour: Date;
  signal: AbortSignal;
}

async function syncTenant(platform: Platform, tenant: DueTenant, { now, hour, signal }: Pass): Promise<void> {
  const { id, slug } = tenant;
  if (!(await claim(platform, tenant, hour, now))) return;
  const month = monthOf(now);
  const began = performance.now();
  try {
    const used = await loadUsed(platform, id, now);
    const included = await platform.licenseManager!.report({ tenant: slug, month, used }, signal);
    await store(platform, id, hour, {
      text: `included = $3, synced_at = $4, failed_at = null, failure_code = null`,
      values: [included, timeAfter(now, began)],
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SyncError)) throw error;
    platform.log.warn({ err: error, tenant: slug, code: error.code }, 'A sync with the license manager failed');
    await store(platform, id, hour, {
      text: `failed_at = $3, failure_code = $4`,
      values: [timeAfter(now, began), error.code],
    });
  }
}

/** Returns the time that has passed since `now`, which was when `performance.now()` returned `began`. */
const timeAfter = (now: Date, began: number): Date => new Date(now.getTime() + performance.now() - began);

/**
 * Claims the sync of an hour, or its repetition after a failure, whose time becomes `now`. Returns false if another worker
 * has claimed it, or a later one.
 */
async function claim({ database }: Platform, { id, failedAt }: DueTenant, hour: Date, now: Date): Promise<boolean> {
  const claimed = await database.query(id, {
    text: `
      insert into dws.credit_sync as s (tenant_id, hour)
      values ($1, $2)
      on conflict (tenant_id) do update
      set hour = excluded.hour, failed_at = case when s.hour = excluded.hour then $4 else s.failed_at end
      where s.hour < excluded.hour or s.hour = excluded.hour and s.failed_at = $3 and $4 > $3
      returning tenant_id`,
    values: [id, hour, failedAt, now],
  });
  return claimed.length > 0;
}

/** Stores the outcome of a sync, unless a later one was claimed. */
async function store(
  { database }: Platform,
  tenantId: string,
  hour: Date,
  { text, values }: { text: string; values: unknown[] },
): Promise<void> {
  await database.query(tenantId, {
    text: `update dws.credit_sync set ${text} where tenant_id = $1 and hour = $2`,
    values: [tenantId, hour, ...values],
  });
}

async function loadUsed({ database }: Platform, tenantId: string, now: Date): Promise<number> {
  const { start, end } = monthPeriod(now);
  const [row] = await database.query<{ used: number }>(tenantId, {
    text: `
      select coalesce(sum(credits), 0)::float8 as used
      from dws.usage_day
      where tenant_id = $1 and day between $2 and $3`,
    values: [tenantId, start, end],
  });
  return row!.used;
}
