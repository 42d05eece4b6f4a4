import type { Context, Restriction } from '../../core/context.ts';
import { or } from '../../core/criteria/build.ts';
import { onlyDecided } from '../../core/criteria/decided.ts';
import { parseCriteria } from '../../core/criteria/parse.ts';
import { ALL, NONE, type CriteriaNode } from '../../core/criteria/tree.ts';
import type { Generation, GenerationId } from '../../core/dataset-index.ts';
import { ApiError, gone } from '../../core/errors.ts';
import type { Field } from '../../core/fields.ts';
import { isRestricted } from '../../core/permissions.ts';
import { accessLevel, type AccessColumns } from '../resource/access-level.ts';

/** The columns of a dataset that a view requires. */
export const VIEW_COLUMNS = ['id', 'ownerId', 'generationId', 'fields', 'parent.id', 'parent.ownerId'] as const;

export interface ViewedDataset extends AccessColumns {
  generationId?: string | null;
  fields: Field[];
}

/** The rows and fields of a dataset that a viewer sees. Every read of a dataset's rows goes through a view. */
export interface DatasetView {
  /** The dataset that has the filters and shares: the parent of a draft or snapshot, else the dataset itself. */
  datasetId: string;
  /** The stored rows; null before the first refresh. */
  generation: Generation | null;
  /** The visible fields. */
  fields: Field[];
  /** The criteria of the visible rows. */
  where: CriteriaNode;
  /** Whether rows or fields may be hidden. Errors then name nothing that the viewer did not name. */
  partial: boolean;
}

/** How long a replaced generation stays readable for cursors. See docs/contract/datasets.md#data. */
const CURSOR_LIFETIME = '10 minutes';

/** Returns the id of the dataset that has the filters and shares of a dataset, draft or snapshot. */
const rootIdOf = ({ id, parent }: AccessColumns): string => parent?.id ?? id;

/** Returns the viewer's restriction on a dataset; null if the dataset is fully visible. */
export async function restrictionOn(ctx: Context, dataset: AccessColumns): Promise<Restriction | null> {
  return isRestricted(await accessLevel(ctx, dataset)) ? ctx.restriction(rootIdOf(dataset)) : null;
}

/** Returns the fields without those that a restriction hides. */
export const withoutHiddenFields = <T extends { name: string }>(fields: T[], restriction: Restriction | null): T[] =>
  restriction?.fields ? fields.filter(({ name }) => restriction.fields!.has(name)) : fields;

/** Returns the fields of a dataset that the viewer sees. */
export const visibleFields = async (
  ctx: Context,
  dataset: AccessColumns & Pick<ViewedDataset, 'fields'>,
): Promise<Field[]> => withoutHiddenFields(dataset.fields, await restrictionOn(ctx, dataset));

/**
 * Returns the viewer's view of a dataset: the only place that decides which rows and fields a viewer sees.
 * `generationId` is the generation of a cursor, by default the current one. Throws GONE if the generation is no longer
 * readable.
 */
export async function viewOf(
  ctx: Context,
  dataset: ViewedDataset,
  generationId: GenerationId | null = dataset.generationId ?? null,
): Promise<DatasetView> {
  const restriction = await restrictionOn(ctx, dataset);
  const generation = generationId === null ? null : await loadGeneration(ctx, dataset, generationId);
  const stored = new Map(generation?.fields.map((field) => [field.name, field]));
  // Type and format come from the stored rows. A field without stored values appears with the next refresh.
  const fields = dataset.fields.flatMap(({ format: _format, vanished: _vanished, ...field }) => {
    const { type, format, vanished } = stored.get(field.name) ?? {};
    return type ? [{ ...field, type, ...(format && { format }), ...(vanished && { vanished }) }] : [];
  });
  return {
    datasetId: rootIdOf(dataset),
    generation,
    fields: withoutHiddenFields(fields, restriction),
    where: visibleRowCriteria(restriction, fields),
    partial: restriction !== null,
  };
}

/** Returns the criteria of the rows that a restriction shows. They may use fields that it hides. */
const visibleRowCriteria = (restriction: Restriction | null, fields: Field[]): CriteriaNode =>
  restriction?.rows ? or(restriction.rows.map((criteria) => shareCriteria(criteria, fields))) : ALL;

/**
 * Returns the criteria of a share, or criteria that match no rows if a field no longer exists or has another type. See
 * docs/contract/access.md#restricted-shares.
 */
function shareCriteria(criteria: Record<string, unknown>, fields: readonly Field[]): CriteriaNode {
  const parsed = parseStoredCriteria(criteria, fields, false);
  return parsed instanceof ApiError ? NONE : onlyDecided(parsed);
}

/**
 * Parses stored criteria over the fields that the source still has. Returns the error if they do not fit; without `hints`
 * it names no similar field.
 */
export function parseStoredCriteria(
  criteria: Record<string, unknown>,
  fields: readonly Field[],
  hints = true,
): CriteriaNode | ApiError {
  try {
    return parseCriteria(criteria, keptFields(fields), hints);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** The fields of lists that the source still has: all blocks of a report are checked with the same list. */
const KEPT = new WeakMap<readonly Field[], readonly Field[]>();

function keptFields(fields: readonly Field[]): readonly Field[] {
  let kept = KEPT.get(fields);
  if (!kept) KEPT.set(fields, (kept = fields.filter(({ vanished }) => !vanished)));
  return kept;
}

async function loadGeneration(
  { query, viewer }: Context,
  { id, generationId: current }: ViewedDataset,
  generationId: GenerationId,
): Promise<Generation> {
  const [generation] = await query<Omit<Generation, 'warnings'> & Record<string, unknown>>({
    text: `
      select id, fields, records, size
      from dws.generation
      where tenant_id = $1 and dataset_id = $2 and id = $3
        and (id = $4 or replaced_at is null or replaced_at > now() - interval '${CURSOR_LIFETIME}')`,
    values: [viewer.tenantId, id, generationId, current ?? null],
  });
  if (!generation) throw gone('The rows of this cursor were replaced; start again without `after`');
  return { ...generation, warnings: [] };
}
