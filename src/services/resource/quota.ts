import type { Query } from '../../core/database.ts';
import { tooLarge } from '../../core/errors.ts';

/** Bytes that a tenant's datasets and files take, without the dataset whose rows are about to be replaced. */
export async function loadBytesUsed(
  tx: { query: Query },
  tenantId: string,
  exceptDataset: string | null = null,
): Promise<number> {
  const [used] = await tx.query<{ size: number }>({
    text: `select ((select coalesce(sum(size), 0) from dws.dataset where tenant_id = $1 and id is distinct from $2) + (select coalesce(sum(size), 0) from dws.stored_file where tenant_id = $1))::bigint as size`,
    values: [tenantId, exceptDataset],
  });
  return used!.size;
}

/** 413 when a tenant's data would go past `TENANT_QUOTA_BYTES` (contract 1); 0 is unlimited. */
export async function checkQuota(
  tx: { query: Query },
  tenantId: string,
  quota: number,
  adding: number,
  exceptDataset: string | null = null,
): Promise<void> {
  if (quota === 0) return;
  const total = (await loadBytesUsed(tx, tenantId, exceptDataset)) + adding;
  if (total > quota) throw tooLarge(`Datasets and files would take ${total} bytes; the quota is ${quota}`);
}
