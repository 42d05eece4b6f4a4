import type { Query } from '../../core/database.ts';
import { tooLarge, type ApiError } from '../../core/errors.ts';

/** SQL for the bytes of a tenant `$1` in the database and in the tables of its apps, which workers measure. */
const MEASURED = `(select coalesce(sum(bytes), 0) from dws.store_size where tenant_id = $1)`;

/**
 * Returns the bytes that a tenant uses, without the dataset whose rows are about to be replaced. Datasets and files are
 * exact; all other stores (`stores.ts`) have the values that a worker has measured.
 */
export async function loadBytesUsed(
  tx: { query: Query },
  tenantId: string,
  exceptDataset: string | null = null,
): Promise<number> {
  const [used] = await tx.query<{ size: number }>({
    text: `
      select (
        (select coalesce(sum(size), 0) from dws.dataset where tenant_id = $1 and id is distinct from $2)
        + (select coalesce(sum(size), 0) from dws.stored_file where tenant_id = $1)
        + ${MEASURED}
      )::bigint as size`,
    values: [tenantId, exceptDataset],
  });
  return used!.size;
}

/**
 * Returns the bytes that the quota of a tenant still allows, Infinity without a quota. `freedBytes` are about to be
 * freed. Throws 413 if it allows none.
 */
export async function loadBytesLeft(
  tx: { query: Query },
  tenantId: string,
  quota: number,
  freedBytes = 0,
): Promise<number> {
  if (quota === 0) return Infinity;
  const left = quota - (await loadBytesUsed(tx, tenantId)) + freedBytes;
  if (left <= 0) throw tooLarge(`The quota of ${quota} bytes is used up`);
  return left;
}

/** Returns why a tenant must not use `total` bytes; undefined if it may. 0 is unlimited. */
const quotaIssue = (total: number, quota: number): ApiError | undefined =>
  quota > 0 && total > quota ? tooLarge(`The tenant would use ${total} bytes; the quota is ${quota}`) : undefined;

/**
 * Bytes of the disk that a load may take for each remaining byte of the quota. Rows are stored twice, as the source has sent
 * them and in the form of the index, and take more until their types are known.
 */
const LOAD_BYTES_PER_BYTE = 4;
/** Bytes that any load may take, e.g. empty blocks of the index. */
const MIN_LOAD_BYTES = 16_000_000;

/**
 * Returns why a load that takes `loadBytes` of the disk must end: its rows would exceed the quota of the tenant in all
 * likelihood. Undefined if it may go on.
 */
export async function loadIssue(
  tx: { query: Query },
  tenantId: string,
  quota: number,
  loadBytes: number,
  datasetId: string,
): Promise<ApiError | undefined> {
  if (quota === 0 || loadBytes <= MIN_LOAD_BYTES) return undefined;
  const used = await loadBytesUsed(tx, tenantId, datasetId);
  return loadBytes > LOAD_BYTES_PER_BYTE * (quota - used) ? quotaIssue(used + loadBytes, quota) : undefined;
}

/** Throws 413 if `addedBytes` would exceed the quota of the tenant (`TENANT_QUOTA_BYTES`); 0 is unlimited. */
export async function checkQuota(
  tx: { query: Query },
  tenantId: string,
  quota: number,
  addedBytes: number,
  exceptDataset: string | null = null,
): Promise<void> {
  if (quota === 0) return;
  const issue = quotaIssue((await loadBytesUsed(tx, tenantId, exceptDataset)) + addedBytes, quota);
  if (issue) throw issue;
}
