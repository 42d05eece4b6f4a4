import type { DatasetReference } from '../../../entities/dataset-reference.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import type { ColumnType } from '../../core/read/model.ts';

/** The tables of references to datasets. Each has a table `<name>_snapshot` with the snapshots that it names. */
type ReferenceTable = 'dataset_reference' | 'job_dataset';

/** Returns the computed column with the ids of the named snapshots that are still snapshots of the dataset. */
export const snapshotIdsColumn = (table: ReferenceTable): { sql: string; type: ColumnType } => ({
  sql: `(
    select coalesce(json_agg(s.dataset_id order by s.position), '[]')
    from dws.${table}_snapshot s
    join dws.dataset d on d.id = s.dataset_id and d.parent_id = p.dataset_id and d.is_snapshot
    where s.tenant_id = p.tenant_id and s.reference_id = p.id)`,
  type: 'json',
});

/**
 * Returns the ids that belong to snapshots of the dataset, in lower case, each once, in the given order. Locks them
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

/** Returns the ids like `existingSnapshots`. Throws NOT_FOUND with the first id that is not a snapshot of the dataset. */
export async function requireSnapshots(tx: Transaction, datasetId: string, ids: readonly string[]): Promise<string[]> {
  const existing = await existingSnapshots(tx, datasetId, ids);
  const unknown = ids.find((id) => !existing.includes(id.toLowerCase()));
  if (unknown !== undefined) throw notFound({ what: 'snapshot', id: unknown });
  return existing;
}

/** Replaces the snapshots that a reference names. */
export function replaceSnapshots(
  tx: Transaction,
  table: ReferenceTable,
  { id, tenantId }: Pick<DatasetReference, 'id' | 'tenantId'>,
  snapshotIds: readonly string[],
): void {
  tx.execute({
    text: `delete from dws.${table}_snapshot where tenant_id = $1 and reference_id = $2`,
    values: [tenantId, id],
  });
  if (snapshotIds.length === 0) return;
  tx.execute({
    text: `
      insert into dws.${table}_snapshot (tenant_id, reference_id, dataset_id, position)
      select $1, $2, dataset_id, position
      from unnest($3::uuid[]) with ordinality as s(dataset_id, position)`,
    values: [tenantId, id, snapshotIds],
  });
}
