import { TEMPLATE } from '../../../entities/owned-kinds.ts';
import { TemplateInput } from '../../../entities/template-input.ts';
import type { Context } from '../../core/context.ts';
import { loadUsedResource } from '../resource/load-resource.ts';
import { findFrameMistakes } from './frame-mistakes.ts';
import { findMissingCharacters, type CheckedText } from './missing-characters.ts';
import { runInRenderPlace } from './render-gate.ts';
import { loadFiles } from './render-plan.ts';
import { loadRenderUser } from './render-user.ts';
import { findHandler } from './template-handler.ts';
import { MAX_MISTAKES, MISSING_CHARACTER, toProblems, type TemplateProblem } from './template-mistakes.ts';
import { readSettings, type TemplateSettings } from './template-settings.ts';
import { loadSources, type TemplateSources } from './template-sources.ts';

/** Maximum time of a check, in milliseconds. */
const CHECK_TIMEOUT_MS = 30_000;

/** Mistakes and warnings that are found without data. */
export interface TemplateCheckResult {
  ok: boolean;
  problems: TemplateProblem[];
}

/** Finds the mistakes in the files and settings of a template or a draft that can be found without data. */
export async function check(ctx: Context, templateId: string): Promise<TemplateCheckResult> {
  const { template, files, settings, inputs } = await ctx.transaction(async (tx) => {
    const found = await loadUsedResource(ctx, tx, TEMPLATE, templateId, 'template:read');
    const [present, user, defaults] = await Promise.all([
      loadFiles(tx, found),
      loadRenderUser(ctx, tx),
      tx.find(TemplateInput, { templateId: found.id }, { orderBy: ['position'] }),
    ]);
    return { template: found, files: present, settings: readSettings(found.settings, user), inputs: defaults };
  });
  const { engine, handler } = findHandler(ctx.platform, template, template.handler);
  const { header, footer } = settings;
  const { mistakes, warnings } = await runInRenderPlace(ctx, CHECK_TIMEOUT_MS, ctx.request.signal, async (signal) => {
    const sources = await loadSources(ctx, files, signal);
    const { templates, dataFiles } = sources;
    const task = { caller: ctx.viewer, templates, dataFiles, handler: handler.id, header, footer, signal };
    const found = await engine.check(task);
    if (handler.id !== 'pdf') return { mistakes: found, warnings: [] };
    const characters = await ctx.platform.pdfPrinter.loadCharacters();
    return {
      mistakes: found,
      warnings: findMissingCharacters(textsOf(sources, settings, inputs), characters, MAX_MISTAKES),
    };
  });
  const problems = toProblems([...mistakes, ...findFrameMistakes(settings)]);
  const all = [
    ...problems,
    ...warnings.map(({ path, ...warning }): TemplateProblem => ({ path: [path], ...warning, code: MISSING_CHARACTER })),
  ];
  return { ok: problems.length === 0, problems: all.slice(0, MAX_MISTAKES) };
}

/** Returns the texts of a template that may be printed: files, header, footer and defaults of inputs. */
function textsOf(
  { templates, dataFiles }: TemplateSources,
  { header, footer }: TemplateSettings,
  inputs: readonly TemplateInput[],
): CheckedText[] {
  const files = [...templates, ...dataFiles].map(([path, { content }]) => ({
    path,
    text: Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8'),
    hasLines: true,
  }));
  const frames = Object.entries({ header, footer }).map(([name, text]) => ({
    path: `settings.${name}`,
    text: text ?? '',
    hasLines: true,
  }));
  const defaults = inputs.map(({ name, defaultValue }) => ({
    path: `inputs.${name}`,
    text: JSON.stringify(defaultValue ?? ''),
    hasLines: false,
  }));
  return [...files, ...frames, ...defaults];
}
