import { TEMPLATE } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { loadUsedResource } from '../resource/load-resource.ts';
import { findFrameMistakes } from './frame-mistakes.ts';
import { runInRenderPlace } from './render-gate.ts';
import { loadFiles } from './render-plan.ts';
import { loadRenderUser } from './render-user.ts';
import { findHandler } from './template-handler.ts';
import { toProblems, type TemplateProblem } from './template-mistakes.ts';
import { readSettings } from './template-settings.ts';
import { loadSources } from './template-sources.ts';

/** Maximum time of a check, in milliseconds. */
const CHECK_TIMEOUT_MS = 30_000;

/** Mistakes that are found without data. */
export interface TemplateCheckResult {
  ok: boolean;
  problems: TemplateProblem[];
}

/** Finds the mistakes in the files and settings of a template or a draft that can be found without data. */
export async function check(ctx: Context, templateId: string): Promise<TemplateCheckResult> {
  const { template, files, settings } = await ctx.transaction(async (tx) => {
    const found = await loadUsedResource(ctx, tx, TEMPLATE, templateId, 'template:read');
    const [present, user] = await Promise.all([loadFiles(tx, found), loadRenderUser(ctx, tx)]);
    return { template: found, files: present, settings: readSettings(found.settings, user) };
  });
  const { engine, handler } = findHandler(ctx.platform, template, template.handler);
  const { header, footer } = settings;
  const mistakes = await runInRenderPlace(ctx, CHECK_TIMEOUT_MS, ctx.request.signal, async (signal) => {
    const { templates, dataFiles } = await loadSources(ctx, files, signal);
    return engine.check({ caller: ctx.viewer, templates, dataFiles, handler: handler.id, header, footer, signal });
  });
  const problems = toProblems([...mistakes, ...findFrameMistakes(settings)]);
  return { ok: problems.length === 0, problems };
}
