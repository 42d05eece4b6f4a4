import type { Generation } from '../../core/dataset-index.ts';
import type { Transaction } from '../../core/platform.ts';

/** Records a generation of the index as rows of a dataset. From the commit on the janitor does not drop it. */
export async function insertGeneration(
  tx: Pick<Transaction, 'query'>,
  tenantId: string,
  datasetId: string,
  { id, fields, records, size }: Generation,
): Promise<void> {
  await tx.query({
    text: `
      insert into dws.generation (id, tenant_id, dataset_id, fields, records, size)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [id, tenantId, datasetId, JSON.stringify(fields), records, size],
  });
}
