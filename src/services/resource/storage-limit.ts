import { tooLarge } from '../../core/errors.ts';
import { perPlatform } from '../../core/per-platform.ts';
import type { Platform } from '../../core/platform.ts';

/** How long a process uses the sizes that it has read. */
const MAX_AGE_MS = 5000;

/** What the stores of a tenant use, as a worker has measured them. */
interface Usage extends Record<string, unknown> {
  /** Bytes in the service's database. */
  database: number;
  /** Bytes of the tables of apps. */
  workspaces: number;
  /** Ids of the apps past `APP_QUOTA_BYTES`. */
  fullApps: string[];
}

type Limits = Pick<Platform['config'], 'TENANT_QUOTA_BYTES' | 'TENANT_DATABASE_BYTES' | 'APP_QUOTA_BYTES'>;

const usages = perPlatform(() => new Map<string, { usage: Promise<Usage>; until: number }>());

function loadUsage(platform: Platform, tenantId: string): Promise<Usage> {
  const known = usages(platform).get(tenantId);
  if (known && known.until > performance.now()) return known.usage;
  const usage = readUsage(platform, tenantId);
  usages(platform).set(tenantId, { usage, until: performance.now() + MAX_AGE_MS });
  usage.catch(() => usages(platform).delete(tenantId));
  return usage;
}

async function readUsage({ database, config }: Platform, tenantId: string): Promise<Usage> {
  const [usage] = await database.query<Usage>(tenantId, {
    text: `
      select coalesce(sum(bytes) filter (where store <> 'workspace'), 0)::bigint as database,
        coalesce(sum(bytes) filter (where store = 'workspace'), 0)::bigint as workspaces,
        array(
          select app_id::text
          from dws.store_size
          where tenant_id = $1 and app_id is not null
          group by app_id
          having $2 > 0 and sum(bytes) > $2
        ) as "fullApps"
      from dws.store_size
      where tenant_id = $1`,
    values: [tenantId, config.APP_QUOTA_BYTES],
  });
  return usage!;
}

/** Returns why a tenant, or an app of it, must not store more; undefined if it may. */
function refusalOf(
  { database, workspaces, fullApps }: Usage,
  { TENANT_QUOTA_BYTES: quota, TENANT_DATABASE_BYTES: databaseBytes, APP_QUOTA_BYTES: appQuota }: Limits,
  appId: string | null,
): string | undefined {
  if (quota > 0 && database + workspaces > quota) return `The quota of ${quota} bytes is used up`;
  if (quota === 0 && databaseBytes > 0 && database > databaseBytes)
    return `The tenant stores more than ${databaseBytes} bytes in the database`;
  if (appId !== null && fullApps.includes(appId)) return `The app stores more than ${appQuota} bytes`;
  return undefined;
}

/**
 * Returns whether a tenant, or an app of it, stores more in the database than it may, by what a worker has measured.
 * See docs/contract.md#storage.
 */
export async function isStorageFull(
  platform: Platform,
  tenantId: string,
  appId: string | null = null,
): Promise<boolean> {
  return refusalOf(await loadUsage(platform, tenantId), platform.config, appId) !== undefined;
}

/** Throws 413 if a tenant, or an app of it, stores more in the database than it may. */
export async function checkStorage(platform: Platform, tenantId: string, appId: string | null = null): Promise<void> {
  const refusal = refusalOf(await loadUsage(platform, tenantId), platform.config, appId);
  if (refusal !== undefined) throw tooLarge(refusal);
}

/** Reads the sizes of a tenant again at the next check: they have changed. */
export const forgetStorage = (platform: Platform, tenantId: string): boolean => usages(platform).delete(tenantId);
