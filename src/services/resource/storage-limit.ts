import type { TableLimit, WorkspaceKey } from '../../core/app-workspace.ts';
import type { SqlRow, Statement } from '../../core/database.ts';
import { diskLow, tooLarge, type ApiError } from '../../core/errors.ts';
import { perPlatform } from '../../core/per-platform.ts';
import type { Platform } from '../../core/platform.ts';
import { loadIssue } from './quota.ts';

/** How long a process uses the sizes of a tenant that it has read, and the free space of its disk. */
const MAX_AGE_MS = 5000;
const MAX_DISK_AGE_MS = 1000;

/** Bytes of the tables of apps, and of all other stores in the database. */
interface Bytes {
  tables: number;
  others: number;
}

/** The sizes of a tenant's stores, as a worker has measured them: of the whole tenant, and of each app by its id. */
interface Usage extends Bytes {
  apps: ReadonlyMap<string, Bytes>;
}

interface Kept<T> {
  value: Promise<T>;
  until: number;
}

const usages = perPlatform(() => new Map<string, Kept<Usage>>());
const disks = perPlatform(() => new Map<'free', Kept<number>>());

/** Returns a value that is recent enough, or loads it. One that cannot be loaded is loaded again at the next call. */
function keep<K, T>(kept: Map<K, Kept<T>>, key: K, maxAgeMs: number, load: () => Promise<T>): Promise<T> {
  const known = kept.get(key);
  if (known && known.until > performance.now()) return known.value;
  const value = load();
  kept.set(key, { value, until: performance.now() + maxAgeMs });
  value.catch(() => kept.delete(key));
  return value;
}

const loadUsage = (platform: Platform, tenantId: string): Promise<Usage> =>
  keep(usages(platform), tenantId, MAX_AGE_MS, () => readUsage(platform, tenantId));

async function readUsage({ database }: Platform, tenantId: string): Promise<Usage> {
  const rows = await database.query<Bytes & { appId: string | null } & Record<string, unknown>>(tenantId, {
    text: `
      select app_id as "appId", coalesce(sum(bytes) filter (where store = 'workspace'), 0)::bigint as tables,
        coalesce(sum(bytes) filter (where store <> 'workspace'), 0)::bigint as others
      from dws.store_size
      where tenant_id = $1
      group by app_id`,
    values: [tenantId],
  });
  return {
    tables: rows.reduce((sum, { tables }) => sum + tables, 0),
    others: rows.reduce((sum, { others }) => sum + others, 0),
    apps: new Map(rows.flatMap(({ appId, ...bytes }) => (appId === null ? [] : [[appId, bytes]]))),
  };
}

/** Returns whether less than `RESERVED_DISK_BYTES` are free on the disk of the process. */
async function isDiskLow(platform: Platform): Promise<boolean> {
  const { RESERVED_DISK_BYTES: reserved } = platform.config;
  if (reserved === 0) return false;
  return (await keep(disks(platform), 'free', MAX_DISK_AGE_MS, () => platform.freeBytes())) < reserved;
}

/** Time between two looks at a load, in milliseconds. */
const LOAD_INTERVAL_MS = 1000;

/** A load of the rows of a dataset. */
interface RunningLoad {
  tenantId: string;
  /** Dataset whose rows are replaced. */
  datasetId: string;
  /** Returns how many bytes of the disk the load takes now. */
  bytes(): Promise<number>;
}

/**
 * Loads rows with a signal. It aborts with 503 when little of the disk is left, as the load would otherwise take the rest
 * from all tenants, and with 413 when the load takes much more than the rest of the tenant's quota.
 */
export async function whileStorageAllows<T>(
  platform: Platform,
  { tenantId, datasetId, bytes }: RunningLoad,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const refused = new AbortController();
  const { TENANT_QUOTA_BYTES: quota } = platform.config;
  const tx = { query: <R extends SqlRow>(statement: Statement) => platform.database.query<R>(tenantId, statement) };
  const look = async () => {
    const issue = (await isDiskLow(platform))
      ? diskLow()
      : quota > 0 && (await loadIssue(tx, tenantId, quota, await bytes(), datasetId));
    if (issue) refused.abort(issue);
  };
  const timer = setInterval(() => void look().catch(() => {}), LOAD_INTERVAL_MS);
  try {
    return await work(AbortSignal.any([signal, refused.signal]));
  } finally {
    clearInterval(timer);
  }
}

/** Returns why a tenant, with all its apps, must not store more. */
async function tenantIssue(platform: Platform, { tables, others }: Bytes): Promise<ApiError | undefined> {
  const { TENANT_QUOTA_BYTES: quota, TENANT_DATABASE_BYTES: databaseBytes } = platform.config;
  if (await isDiskLow(platform)) return diskLow();
  if (quota > 0 && tables + others > quota) return tooLarge(`The quota of ${quota} bytes is used up`);
  if (quota === 0 && databaseBytes > 0 && others > databaseBytes)
    return tooLarge(`The tenant stores more than ${databaseBytes} bytes in the database`);
  return undefined;
}

/**
 * Returns why a tenant, or an app of it, must not store more: a full quota (413), according to a worker's measurement,
 * or little free disk (503). Undefined if it may. See docs/contract/resources.md#storage.
 */
export async function storageIssue(
  platform: Platform,
  tenantId: string,
  appId: string | null = null,
): Promise<ApiError | undefined> {
  const usage = await loadUsage(platform, tenantId);
  const issue = await tenantIssue(platform, usage);
  if (issue || appId === null) return issue;
  const { APP_QUOTA_BYTES: quota } = platform.config;
  const { tables, others } = usage.apps.get(appId) ?? { tables: 0, others: 0 };
  return quota > 0 && tables + others > quota ? tooLarge(`The app stores more than ${quota} bytes`) : undefined;
}

/** Throws the error of `storageIssue`. */
export async function checkStorage(platform: Platform, tenantId: string, appId: string | null = null): Promise<void> {
  const issue = await storageIssue(platform, tenantId, appId);
  if (issue) throw issue;
}

/** Returns the bytes that the tables of an app may have: its quota covers them together with its other stores. */
export async function tableLimitOf(platform: Platform, { tenantId, appId }: WorkspaceKey): Promise<TableLimit> {
  const usage = await loadUsage(platform, tenantId);
  const issue = await tenantIssue(platform, usage);
  return {
    quota: platform.config.APP_QUOTA_BYTES || Infinity,
    others: usage.apps.get(appId)?.others ?? 0,
    refusal: issue?.message ?? null,
  };
}

/** Reads the sizes of a tenant and the free space again at the next check: they have changed. */
export function forgetStorage(platform: Platform, tenantId: string): void {
  usages(platform).delete(tenantId);
  disks(platform).clear();
}
