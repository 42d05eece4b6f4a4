import type { LastRefresh } from '../../entities/dataset.ts';
import type { Generation } from '../core/dataset-index.ts';
import { notFound } from '../core/errors.ts';
import type { Field } from '../core/fields.ts';
import type { Transaction } from '../core/platform.ts';
import { countFieldChanges, mergeFields, type FieldChanges } from '../services/dataset/dataset-fields.ts';
import { notifyBrokenFilters } from '../services/dataset/saved-filter-notice.ts';
import type { Claim } from '../services/operation/operation-repository.ts';
import { checkQuota } from '../services/resource/quota.ts';

/** Answer of a refresh (specification, "Dataset run, refresh, benchmark"). Durations in milliseconds, fields are counted. */
export interface DatasetRefreshResult extends FieldChanges {
  id: string;
  records: number;
  previousRecordCount: number;
  duration: number;
  dataUpdatedAt: string;
  success: true;
}

interface Published extends Record<string, unknown> {
  fields: Field[];
  records: number;
  generationId: string | null;
}

/** Switches the dataset's readers to a finished generation, in the transaction that records the refresh as succeeded. The former one is kept for cursors and exports. */
export async function publishGeneration(
  tx: Transaction,
  { tenantId, startedAt }: Claim,
  datasetId: string,
  generation: Generation,
  quota: number,
): Promise<DatasetRefreshResult> {
  const [before] = await tx.query<Published>({
    text: `select fields, records, generation_id as "generationId" from dws.dataset where tenant_id = $1 and id = $2 for update`,
    values: [tenantId, datasetId],
  });
  if (!before) throw notFound({ what: 'dataset', id: datasetId });
  await checkQuota(tx, tenantId, quota, generation.size, datasetId);

  const fields = fieldsOf(before.fields, generation);
  const at = new Date();
  const duration = at.getTime() - startedAt.getTime();
  const last: LastRefresh = { at: at.toISOString(), success: true, duration, error: null };
  await tx.query({
    text: `insert into dws.generation (id, tenant_id, dataset_id, fields, records, size) values ($1, $2, $3, $4, $5, $6)`,
    values: [
      generation.id,
      tenantId,
      datasetId,
      JSON.stringify(generation.fields),
      generation.records,
      generation.size,
    ],
  });
  await tx.query({
    text: `update dws.generation set replaced_at = now() where tenant_id = $1 and id = $2`,
    values: [tenantId, before.generationId],
  });
  await tx.query({
    text: `update dws.dataset set generation_id = $3, fields = $4, records = $5, size = $6, data_updated_at = $7, last_refresh = $8, updated_at = $7, version = version + 1
      where tenant_id = $1 and id = $2`,
    values: [
      tenantId,
      datasetId,
      generation.id,
      JSON.stringify(fields),
      generation.records,
      generation.size,
      at,
      JSON.stringify(last),
    ],
  });
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

/** The fields of the generation with the labels people gave; what its rows are like is the generation's alone. */
export function fieldsOf(before: readonly Field[], { fields: now }: Pick<Generation, 'fields'>): Field[] {
  return mergeFields(before, now).map(({ format: _former, ...field }, i) => {
    const { format, vanished } = now[i]!;
    return { ...field, ...(format && { format }), ...(vanished && { vanished }) };
  });
}
