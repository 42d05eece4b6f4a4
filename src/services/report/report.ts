import type { Context } from '../../core/context.ts';
import { load } from '../resource/load-resource.ts';
import { createOwned, updateOwned, type OwnedInput } from '../resource/owned-kind.ts';
import { REPORT } from '../resource/owned-kinds.ts';
import { checkedDefinition, checkSize } from './report-definition.ts';

export interface ReportInput extends OwnedInput {
  /** Null, and absent in a new report: no blocks. */
  definition?: Record<string, unknown> | null;
  settings?: Record<string, unknown> | null;
}

/** Makes a report. Answers the id. */
export async function create(ctx: Context, { definition, settings, ...input }: ReportInput): Promise<string> {
  const content = {
    definition: checkedDefinition(definition ?? { blocks: [] }),
    settings: checkedSettings(settings ?? {}),
  };
  return ctx.transaction(async (tx) => (await createOwned(ctx, tx, REPORT, input, content)).id);
}

/** Changes a report. Answers the id. */
export async function update(
  ctx: Context,
  id: string,
  { definition, settings, ...input }: ReportInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const report = await load(ctx, tx, REPORT, id, 'report:write', { ifMatch: ctx.ifMatch });
    if (definition !== undefined) report.definition = checkedDefinition(definition ?? { blocks: [] });
    if (settings !== undefined) report.settings = checkedSettings(settings ?? {});
    await updateOwned(ctx, tx, REPORT, report, input);
    return report.id;
  });
}

/** Deletes a report. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    tx.em.remove(await load(ctx, tx, REPORT, id, 'report:delete', { ifMatch: ctx.ifMatch }));
  });
}

function checkedSettings(settings: Record<string, unknown>): Record<string, unknown> {
  checkSize(settings, 'settings');
  return settings;
}
