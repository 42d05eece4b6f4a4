import { REPORT } from '../../../entities/owned-kinds.ts';
import type { CreateReportInput, UpdateReportInput } from '../../../entities/report-input.ts';
import type { Context } from '../../core/context.ts';
import { loadResource } from '../resource/load-resource.ts';
import { createOwned, updateOwned } from '../resource/owned-kind.ts';
import { checkDefinition, checkJsonSize } from './report-definition.ts';
import { restoreHiddenNames } from './report-visibility.ts';

/** Creates a report, by default without blocks. Returns the id. */
export async function create(ctx: Context, { definition, settings, ...input }: CreateReportInput): Promise<string> {
  const content = {
    definition: checkDefinition(definition ?? { blocks: [] }),
    settings: checkSettings(settings ?? {}),
  };
  return ctx.transaction(async (tx) => (await createOwned(ctx, tx, REPORT, input, content)).id);
}

/**
 * Changes a report. A definition of null removes all blocks. Parts that are hidden from the caller are kept. Returns
 * the id.
 */
export async function update(
  ctx: Context,
  id: string,
  { definition, settings, ...input }: UpdateReportInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const report = await loadResource(ctx, tx, REPORT, id, 'report:write', { ifMatch: ctx.ifMatch });
    if (definition !== undefined)
      report.definition = await restoreHiddenNames(ctx, report, checkDefinition(definition ?? { blocks: [] }));
    if (settings !== undefined) report.settings = checkSettings(settings ?? {});
    await updateOwned(ctx, tx, REPORT, report, input);
    return report.id;
  });
}

/** Deletes a report. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    tx.remove(await loadResource(ctx, tx, REPORT, id, 'report:delete', { ifMatch: ctx.ifMatch }));
  });
}

function checkSettings(settings: Record<string, unknown>): Record<string, unknown> {
  checkJsonSize(settings, 'settings');
  return settings;
}
