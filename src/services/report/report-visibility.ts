import { isDeepStrictEqual } from 'node:util';
import type { DatasetReference } from '../../../entities/dataset-reference.ts';
import { Report, type ReportDefinition } from '../../../entities/report.ts';
import type { Context } from '../../core/context.ts';
import { isObject } from '../../core/criteria/value.ts';
import type { Field } from '../../core/fields.ts';
import { isRestricted } from '../../core/permissions.ts';
import { visibleFields, VIEW_COLUMNS, type ViewedDataset } from '../dataset/dataset-view.ts';
import { accessLevel } from '../resource/access-level.ts';
import { namesFields, visibleBlock } from './block-visibility.ts';

/** The fields that a reader sees of the datasets that are not fully visible to them, by alias. */
type Restrictions = ReadonlyMap<string, readonly Field[]>;

/**
 * Returns the fields that the caller sees of a dataset, none if they cannot read it. Returns null if all fields are
 * visible.
 */
export async function restrictedFields(ctx: Context, dataset: ViewedDataset | null): Promise<Field[] | null> {
  if (!dataset) return [];
  return isRestricted(await accessLevel(ctx, dataset)) ? visibleFields(ctx, dataset) : null;
}

/** Returns the definition of a report without the names of fields that the caller cannot see. */
export const definitionForViewer = async (
  ctx: Context,
  { id, definition }: Pick<Report, 'id' | 'definition'>,
): Promise<ReportDefinition> => withoutHiddenNames(definition, await restrictionsOn(ctx, id));

/**
 * Restores the parts that are hidden from the caller in a definition that they send. A key of a block that equals the
 * one they were shown does not count as a change.
 */
export async function restoreHiddenNames(
  ctx: Context,
  { id, definition: former }: Pick<Report, 'id' | 'definition'>,
  sent: ReportDefinition,
): Promise<ReportDefinition> {
  const shown = withoutHiddenNames(former, await restrictionsOn(ctx, id));
  if (shown === former) return sent;
  const known = new Map(former.blocks.map((block, i) => [block.id, { block, shown: shown.blocks[i]! }]));
  const blocks = sent.blocks.map((block) => {
    const stored = known.get(block.id);
    // In a block of another dataset the caller might see the names.
    if (!stored || block['dataset'] !== stored.block['dataset']) return block;
    const hidden = Object.keys(stored.block).filter((key) => isDeepStrictEqual(block[key], stored.shown[key]));
    return { ...block, ...Object.fromEntries(hidden.map((key) => [key, stored.block[key]])), id: block.id };
  });
  return { ...sent, blocks };
}

async function restrictionsOn(ctx: Context, reportId: string): Promise<Restrictions> {
  const columns = ['alias', ...VIEW_COLUMNS.map((column) => `dataset.${column}`)];
  const references = (await ctx.read.children<DatasetReference>(
    Report,
    'datasetReferences',
    { id: reportId },
    columns,
  )) as unknown as { alias: string; dataset: ViewedDataset | null }[];
  const restrictions = new Map<string, Field[]>();
  for (const { alias, dataset } of references) {
    const fields = await restrictedFields(ctx, dataset);
    if (fields) restrictions.set(alias, fields);
  }
  return restrictions;
}

const withoutHiddenNames = (definition: ReportDefinition, restrictions: Restrictions): ReportDefinition =>
  restrictions.size === 0
    ? definition
    : { ...definition, blocks: visiblePart(definition.blocks, restrictions, null) as ReportDefinition['blocks'] };

/** `fields` are the fields of the dataset of the enclosing block; null if all are visible. */
function visiblePart(value: unknown, restrictions: Restrictions, fields: readonly Field[] | null): unknown {
  if (Array.isArray(value)) return value.map((item) => visiblePart(item, restrictions, fields));
  if (!isObject(value)) return value;
  const { dataset: alias } = value;
  const seen = typeof alias === 'string' ? (restrictions.get(alias) ?? null) : fields;
  const entries = Object.entries(seen ? visibleBlock(value, seen) : value).map(([key, inner]) => [
    key,
    // Criteria are not walked: a key `dataset` in them is a field.
    key === 'filter' || (seen && namesFields(key)) ? inner : visiblePart(inner, restrictions, seen),
  ]);
  return Object.fromEntries(entries);
}
