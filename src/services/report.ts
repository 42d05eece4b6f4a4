import type { ReportDefinition } from '../../entities/report.ts';
import { invalid } from '../core/check.ts';
import type { Context } from '../core/context.ts';
import { createOwned, updateOwned, type OwnedInput } from './kind.ts';
import { REPORT } from './kinds.ts';
import { load } from './rights.ts';

export interface ReportInput extends OwnedInput {
  /** Null, and absent in a new report: no blocks. */
  definition?: Record<string, unknown> | null;
  settings?: Record<string, unknown> | null;
}

/** Makes a report. Answers the id. */
export async function create(ctx: Context, { definition, settings, ...input }: ReportInput): Promise<string> {
  const content = { definition: checkedDefinition(definition ?? { blocks: [] }), settings: checkedSettings(settings ?? {}) };
  return ctx.transaction(async (tx) => (await createOwned(ctx, tx, REPORT, input, content)).id);
}

/** Changes a report. Answers the id. */
export async function update(ctx: Context, id: string, { definition, settings, ...input }: ReportInput): Promise<string> {
  return ctx.transaction(async (tx) => {
    const report = await load(ctx, tx, REPORT, id, 'report:write');
    if (definition !== undefined) report.definition = checkedDefinition(definition ?? { blocks: [] });
    if (settings !== undefined) report.settings = checkedSettings(settings ?? {});
    await updateOwned(ctx, tx, REPORT, report, input);
    return report.id;
  });
}

/** Deletes a report. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    tx.em.remove(await load(ctx, tx, REPORT, id, 'report:delete'));
  });
}

/** Bytes that a definition or settings may have as JSON. */
const LARGEST = 1_000_000;

function checkSize(value: object, path: string): void {
  if (Buffer.byteLength(JSON.stringify(value)) > LARGEST) throw invalid(path, 'must have at most 1 MB as JSON');
}

function checkedSettings(settings: Record<string, unknown>): Record<string, unknown> {
  checkSize(settings, 'settings');
  return settings;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every block is an object with an id of its own; what else it says is its type's. */
function checkedDefinition(definition: Record<string, unknown>): ReportDefinition {
  const { blocks } = definition;
  if (!Array.isArray(blocks)) throw invalid('definition.blocks', 'must be an array');
  checkSize(definition, 'definition');
  const ids = new Set<string>();
  for (const [index, block] of blocks.entries()) {
    const path = `definition.blocks.${index}`;
    if (!isObject(block)) throw invalid(path, 'must be an object');
    const { id } = block;
    if (typeof id !== 'string' || id === '' || id.length > 255) throw invalid(`${path}.id`, 'must be a text of 1 to 255 characters');
    if (ids.has(id)) throw invalid(`${path}.id`, `is that of another block: "${id}"`);
    ids.add(id);
  }
  return definition as ReportDefinition;
}
