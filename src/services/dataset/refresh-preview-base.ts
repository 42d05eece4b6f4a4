import { createHash } from 'node:crypto';
import type { Query } from '../../core/database.ts';
import type { GenerationId } from '../../core/dataset-index.ts';
import { notFound } from '../../core/errors.ts';
import type { Field } from '../../core/fields.ts';
import type { FlowStep } from '../../core/flow/flow.ts';
import type { RefreshPreviewInput } from '../../core/operations.ts';
import type { EffectiveQuery, QuerySource } from './dataset-refresh.ts';

/** State of a dataset before its preview is loaded: its published generation, and a digest of its definition. */
export interface PreviewBase {
  generationId: GenerationId | null;
  definition: string;
}

/**
 * Returns the base of a preview with this input. It is read before the rows are loaded, so that a change of the
 * dataset during the load lets the promotion fail with CONFLICT.
 */
export async function loadPreviewBase(
  query: Query,
  tenantId: string,
  { datasetId, datasourceId, query: text, definitions }: RefreshPreviewInput,
): Promise<PreviewBase> {
  const dataset = await readPreviewedDataset(query, tenantId, datasetId);
  return {
    generationId: dataset.generationId,
    definition: definitionDigest({ datasourceId, query: text, params: definitions }, dataset),
  };
}

interface PreviewedDatasetRow extends QuerySource, Record<string, unknown> {
  ownerId: string;
  isSnapshot: boolean;
  generationId: GenerationId | null;
  flow: FlowStep[];
  fields: Field[];
}

export async function readPreviewedDataset(
  query: Query,
  tenantId: string,
  id: string,
  lock: 'for update' | '' = '',
): Promise<PreviewedDatasetRow> {
  const [dataset] = await query<PreviewedDatasetRow>({
    text: `
      select owner_id as "ownerId", is_snapshot as "isSnapshot", generation_id as "generationId",
        query_id as "queryId", datasource_id as "datasourceId", query, params, flow, fields
      from dws.dataset
      where tenant_id = $1 and id = $2
      ${lock}`,
    values: [tenantId, id],
  });
  if (!dataset) throw notFound({ what: 'dataset', id });
  return dataset;
}

/** Labels of fields and values of parameters are not part of the definition. */
export const definitionDigest = (
  { datasourceId, query, params }: EffectiveQuery,
  { flow, fields }: Pick<PreviewedDatasetRow, 'flow' | 'fields'>,
): string =>
  createHash('sha256')
    .update(JSON.stringify([datasourceId, query, params, flow, fields.map(({ name, type }) => [name, type])]))
    .digest('base64url');
