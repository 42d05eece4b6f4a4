import type { DatasetRefresh } from '../../entities/dataset-refresh.ts';
import type { LastRefresh } from '../../entities/dataset.ts';
import type { Generation } from '../core/dataset-index.ts';
import { notFound } from '../core/errors.ts';
import type { Field } from '../core/fields.ts';
import type { Transaction } from '../core/platform.ts';
import { countFieldChanges, mergeFields } from '../services/dataset/dataset-fields.ts';
import { insertGeneration } from '../services/dataset/generation.ts';
import { notifyBrokenFilters } from '../services/dataset/saved-filter-notice.ts';
import type { Claim } from '../services/operation/operation-repository.ts';
import { checkQuota } from '../services/resource/quota.ts';

interface PublishedDataset extends Record<string, unknown> {
  fields: Field[];
  records: number;
  generationId: string | null;
}

/**
 * Switches the dataset's readers to a finished generation, in the transaction that records the refresh as succeeded.
 * The former generation stays a while for open cursors and exports. Throws NOT_FOUND without the dataset and
 * PAYLOAD_TOO_LARGE above the tenant's quota.
 */
export async function publishGeneration(
  tx: Transaction,
  { tenantId, startedAt }: Claim,
  datasetId: string,
  generation: Generation,
  quota: number,
): Promise<DatasetRefresh> {
  const [before] = await tx.query<PublishedDataset>({
    text: `select fields, records, generation_id as "generationId"
      from dws.dataset
      where tenant_id = $1 and id = $2
      for update`,
    values: [tenantId, datasetId],
  });
  if (!before) throw notFound({ what: 'dataset', id: datasetId });
  await checkQuota(tx, tenantId, quota, generation.size, datasetId);

  const fields = fieldsOf(before.fields, generation);
  const at = new Date();
  const duration = at.getTime() - startedAt.getTime();
  await insertGeneration(tx, tenantId, datasetId, generation);
  await tx.query({
    text: `update dws.generation set replaced_at = now() where tenant_id = $1 and id = $2`,
    values: [tenantId, before.generationId],
  });
  await updateDataset(tx, tenantId, datasetId, generation, fields, { at, duration });
  await notifyBrokenFilters(tx, tenantId, datasetId, before.fields, fields);
  return {
    id: datasetId,
    records: generation.records,
    previousRecordCount: before.records,
    duration,
    ...countFieldChanges(before.fields, fields),
    dataUpdatedAt: at.toISOString(),
    success: true,
  };
}

async function updateDataset(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  { id, records, size }: Generation,
  fields: readonly Field[],
  { at, duration }: { at: Date; duration: number },
): Promise<void> {
  const last: LastRefresh = { at: at.toISOString(), success: true, duration, error: null };
  await tx.query({
    text: `update dws.dataset
      set generation_id = $3, fields = $4, records = $5, size = $6, data_updated_at = $7, last_refresh = $8,
        updated_at = $7, version = version + 1
      where tenant_id = $1 and id = $2`,
    values: [tenantId, datasetId, id, JSON.stringify(fields), records, size, at, JSON.stringify(last)],
  });
}

/**
 * Returns the fields of a generation with the labels and descriptions of the dataset's fields. Format and `vanished`
 * are the generation's.
 */
export function fieldsOf(before: readonly Field[], { fields: now }: Pick<Generation, 'fields'>): Field[] {
  return mergeFields(before, now).map(({ format: _former, ...field }, i) => {
    const { format, vanished } = now[i]!;
    return { ...field, ...(format && { format }), ...(vanished && { vanished }) };
  });
}
