import type { Context } from '../core/context.ts';
import { ALL, type CriteriaNode } from '../core/criteria/tree.ts';
import type { Generation, GenerationId } from '../core/dataset-index.ts';
import { gone } from '../core/errors.ts';
import type { Field } from '../core/fields.ts';

/** What the view is made from: columns of a dataset that the viewer reads. */
export const VIEWED = ['id', 'ownerId', 'generationId', 'fields'] as const;

export interface ViewedDataset {
  id: string;
  ownerId: string;
  generationId?: string | null;
  fields: Field[];
}

/** What a viewer sees of a dataset's rows. All that leaves a dataset goes through one of these; nothing else asks the index. */
export interface DatasetView {
  datasetId: string;
  /** The rows; null before the first refresh. */
  generation: Generation | null;
  /** The fields that exist for the viewer. */
  fields: Field[];
  /** The rows that exist for the viewer. */
  where: CriteriaNode;
}

/** Replaced generations serve cursors and exports so long (contract 7). */
const KEPT = '10 minutes';

/** The fields of a dataset that exist for the viewer. */
export const visibleFields = (_ctx: Context, { fields }: Pick<ViewedDataset, 'fields'>): Field[] => fields;

/**
 * The one place that says what a viewer sees: which rows, which fields. `generationId` is that of a cursor; 410 when it is not kept any more.
 */
export async function viewOf(ctx: Context, dataset: ViewedDataset, generationId: GenerationId | null = dataset.generationId ?? null): Promise<DatasetView> {
  const generation = generationId === null ? null : await readGeneration(ctx, dataset, generationId);
  const held = new Map(generation?.fields.map((field) => [field.name, field]));
  // A field's type and format are those of the rows; a field that the rows do not have yet comes with the next refresh.
  const fields = visibleFields(ctx, dataset).flatMap(({ format: _format, ...field }) => {
    const { type, format } = held.get(field.name) ?? {};
    return type ? [{ ...field, type, ...(format && { format }) }] : [];
  });
  return { datasetId: dataset.id, generation, fields, where: ALL };
}

async function readGeneration({ query, viewer }: Context, { id, generationId: current }: ViewedDataset, generationId: GenerationId): Promise<Generation> {
  const [generation] = await query<Omit<Generation, 'warnings'> & Record<string, unknown>>({
    name: 'generation',
    text: `select id, fields, records, size from dws.generation where tenant_id = $1 and dataset_id = $2 and id = $3
      and (id = $4 or replaced_at is null or replaced_at > now() - interval '${KEPT}')`,
    values: [viewer.tenantId, id, generationId, current ?? null],
  });
  if (!generation) throw gone('The rows that this page belongs to have been replaced; start again without `after`');
  return { ...generation, warnings: [] };
}
