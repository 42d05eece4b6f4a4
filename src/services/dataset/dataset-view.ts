import type { Context, Restriction } from '../../core/context.ts';
import { or } from '../../core/criteria/build.ts';
import { parseCriteria } from '../../core/criteria/parse.ts';
import { ALL, NONE, type CriteriaNode } from '../../core/criteria/tree.ts';
import type { Generation, GenerationId } from '../../core/dataset-index.ts';
import { ApiError, gone } from '../../core/errors.ts';
import type { Field } from '../../core/fields.ts';
import { isRestricted } from '../../core/permissions.ts';
import { accessLevel, type AccessColumns } from '../resource/access-level.ts';

/** What the view is made from: columns of a dataset that the viewer reads. */
export const VIEWED = ['id', 'ownerId', 'generationId', 'fields', 'parent.id', 'parent.ownerId'] as const;

export interface ViewedDataset extends AccessColumns {
  generationId?: string | null;
  fields: Field[];
}

/** What a viewer sees of a dataset's rows. All that leaves a dataset goes through one of these; nothing else asks the index. */
export interface DatasetView {
  /** The dataset, of a draft or snapshot its parent: filters and shares are kept there. */
  datasetId: string;
  /** The rows; null before the first refresh. */
  generation: Generation | null;
  /** The fields that exist for the viewer. */
  fields: Field[];
  /** The rows that exist for the viewer. */
  where: CriteriaNode;
  /** Whether there may be more than the viewer sees: then errors name nothing that the viewer did not. */
  partial: boolean;
}

/** Replaced generations serve cursors and exports so long (contract 7). */
const KEPT = '10 minutes';

/** The dataset that a dataset's shares and filters are kept at. */
const rootIdOf = ({ id, parent }: AccessColumns): string => parent?.id ?? id;

/** What is hidden of a dataset from the viewer; null when nothing is. */
export async function restrictionOn(ctx: Context, dataset: AccessColumns): Promise<Restriction | null> {
  return isRestricted(await accessLevel(ctx, dataset)) ? ctx.restriction(rootIdOf(dataset)) : null;
}

/** The fields that a restriction leaves. */
export const shown = <T extends { name: string }>(fields: T[], restriction: Restriction | null): T[] =>
  restriction?.fields ? fields.filter(({ name }) => restriction.fields!.has(name)) : fields;

/** The fields of a dataset that exist for the viewer. */
export const visibleFields = async (
  ctx: Context,
  dataset: AccessColumns & Pick<ViewedDataset, 'fields'>,
): Promise<Field[]> => shown(dataset.fields, await restrictionOn(ctx, dataset));

/**
 * The one place that says what a viewer sees: which rows, which fields. `generationId` is that of a cursor; 410 when it is not kept any more.
 */
export async function viewOf(
  ctx: Context,
  dataset: ViewedDataset,
  generationId: GenerationId | null = dataset.generationId ?? null,
): Promise<DatasetView> {
  const restriction = await restrictionOn(ctx, dataset);
  const generation = generationId === null ? null : await readGeneration(ctx, dataset, generationId);
  const held = new Map(generation?.fields.map((field) => [field.name, field]));
  // A field's type and format are those of the rows; a field that the rows do not have yet comes with the next refresh.
  const fields = dataset.fields.flatMap(({ format: _format, vanished: _vanished, ...field }) => {
    const { type, format, vanished } = held.get(field.name) ?? {};
    return type ? [{ ...field, type, ...(format && { format }), ...(vanished && { vanished }) }] : [];
  });
  return {
    datasetId: rootIdOf(dataset),
    generation,
    fields: shown(fields, restriction),
    where: rowsOf(restriction, fields),
    partial: restriction !== null,
  };
}

/** The rows that a restriction shows. Its criteria may name fields that it hides. */
const rowsOf = (restriction: Restriction | null, fields: Field[]): CriteriaNode =>
  restriction?.rows ? or(restriction.rows.map((criteria) => shownBy(criteria, fields))) : ALL;

/** Criteria of fields that are gone, or of another type now, show nothing (contract 3). */
function shownBy(criteria: Record<string, unknown>, fields: readonly Field[]): CriteriaNode {
  const fitted = fittedCriteria(criteria, fields);
  return fitted instanceof ApiError ? NONE : fitted;
}

/** Criteria that somebody keeps, over those of the fields that the source still has; why not, when they do not fit these (any more). */
export function fittedCriteria(criteria: Record<string, unknown>, fields: readonly Field[]): CriteriaNode | ApiError {
  try {
    return parseCriteria(
      criteria,
      fields.filter(({ vanished }) => !vanished),
    );
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

async function readGeneration(
  { query, viewer }: Context,
  { id, generationId: current }: ViewedDataset,
  generationId: GenerationId,
): Promise<Generation> {
  const [generation] = await query<Omit<Generation, 'warnings'> & Record<string, unknown>>({
    name: 'generation',
    text: `select id, fields, records, size from dws.generation where tenant_id = $1 and dataset_id = $2 and id = $3
      and (id = $4 or replaced_at is null or replaced_at > now() - interval '${KEPT}')`,
    values: [viewer.tenantId, id, generationId, current ?? null],
  });
  if (!generation) throw gone('The rows that this page belongs to have been replaced; start again without `after`');
  return { ...generation, warnings: [] };
}
