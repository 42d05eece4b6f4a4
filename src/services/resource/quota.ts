import type { Query } from '../../core/database.ts';
import { tooLarge } from '../../core/errors.ts';

/** SQL for the bytes of a tenant `$1` in the database and in the tables of its apps, which workers measure. */
const MEASURED = `(select coalesce(sum(bytes), 0) from dws.store_size where tenant_id = $1)`;

/**
 * Returns the bytes that a tenant uses, without the dataset whose rows are about to be replaced: datasets and files are
 * exact, all other stores (`stores.ts`) as a worker has measured them.
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
 * Returns how many bytes the quota of a tenant still allows, Infinity without a quota. `freedBytes` are about to be
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

/** Throws 413 if `addedBytes` would exceed the quota of the tenant (`TENANT_QUOTA_BYTES`); 0 is unlimited. */
export async function checkQuota(
  tx: { query: Query },
  tenantId: string,
  quota: number,
  addedBytes: number,
  exceptDataset: string | null = null,
): Promise<void> {
  if (quota === 0) return;
  const total = (await loadBytesUsed(tx, tenantId, exceptDataset)) + addedBytes;
  if (total > quota) throw tooLarge(`The tenant would use ${total} bytes; the quota is ${quota}`);
}
