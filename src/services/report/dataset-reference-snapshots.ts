import type { DatasetReference } from '../../../entities/dataset-reference.ts';
import { isUuid } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';

/**
 * Returns those of the ids that are snapshots of the dataset, in lower case, each once, in the given order. Locks them
 * against deletion until the transaction ends.
 */
export async function existingSnapshots(tx: Transaction, datasetId: string, ids: readonly string[]): Promise<string[]> {
  const candidates = ids.filter(isUuid).map((id) => id.toLowerCase());
  if (candidates.length === 0) return [];
  const found = await tx.query<{ id: string }>({
    text: `
      select id
      from dws.dataset
      where parent_id = $1 and is_snapshot and id = any($2)
      order by id
      for key share`,
    values: [datasetId, candidates],
  });
  const existing = new Set(found.map(({ id }) => id));
  return [...new Set(candidates)].filter((id) => existing.has(id));
}

/** Replaces the snapshots that a reference shows. */
export function replaceSnapshots(
  tx: Transaction,
  { id, tenantId }: DatasetReference,
  snapshotIds: readonly string[],
): void {
  tx.execute({
    text: `delete from dws.dataset_reference_snapshot where tenant_id = $1 and reference_id = $2`,
    values: [tenantId, id],
  });
  if (snapshotIds.length === 0) return;
  tx.execute({
    text: `
      insert into dws.dataset_reference_snapshot (tenant_id, reference_id, dataset_id, position)
      select $1, $2, dataset_id, position
      from unnest($3::uuid[]) with ordinality as s(dataset_id, position)`,
    values: [tenantId, id, snapshotIds],
  });
}
