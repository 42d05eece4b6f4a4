import type { Context } from '../../core/context.ts';
import type { RenderedTemplate } from '../../core/template-engine.ts';
import type { Progress } from '../operation/operation-repository.ts';
import { checkFrames } from './frame-mistakes.ts';
import { runInRenderPlace } from './render-gate.ts';
import type { RenderPlan } from './render-plan.ts';
import { loadTemplateData } from './template-data.ts';
import { toMistakeError } from './template-mistakes.ts';
import { loadSources, readSource } from './template-sources.ts';

/** Maximum time of a rendering, its data included, in milliseconds. */
const RENDER_TIMEOUT_MS = 5 * 60_000;

/** Share of the data in the percentage, and percentages at which the other steps begin. */
const DATA_PERCENT = 40;
const RENDERING_PERCENT = 40;
const PRINTING_PERCENT = 60;
const SAVING_PERCENT = 90;

/** A document that was rendered. */
export interface RenderedDocument {
  content: Uint8Array;
  contentType: string;
  filename: string;
  /** Number of pages of a PDF, null for other documents. */
  pages: number | null;
}

/** The progress and the cancellation of a rendering. */
export interface RenderJob {
  signal: AbortSignal;
  progress(update: Progress): void;
}

/**
 * Renders a document with the access of the viewer. Throws BAD_USER_INPUT with the places of mistakes in the template,
 * NOT_FOUND for data that the viewer may not read, TIMEOUT, UPSTREAM_FAILED, 413, and the reason of the aborted signal.
 */
export const renderDocument = (ctx: Context, plan: RenderPlan, job: RenderJob): Promise<RenderedDocument> =>
  runInRenderPlace(ctx, RENDER_TIMEOUT_MS, job.signal, async (signal) => {
    const { handler, filename } = plan;
    if (handler.id === 'pdf') checkFrames(plan.settings);
    const rendered = await renderFiles(ctx, plan, { ...job, signal });
    const printed = handler.id === 'pdf' ? await print(ctx, plan, rendered, { ...job, signal }) : null;
    job.progress({ message: 'Saving', percent: SAVING_PERCENT });
    return {
      content: (printed ?? rendered).content,
      contentType: handler.contentType,
      filename,
      pages: printed?.pages ?? null,
    };
  });

async function renderFiles(ctx: Context, plan: RenderPlan, { signal, progress }: RenderJob): Promise<RenderedTemplate> {
  const { template, engine, handler, handlerOptions, settings, user, values, preview, processors, files } = plan;
  const onProcessor = (processor: string, index: number) =>
    progress({ message: `Reading data: ${processor}`, percent: (DATA_PERCENT * index) / processors.length });
  const data = await loadTemplateData(ctx, { processors, values, preview, signal, onProcessor });
  const sources = await loadSources(ctx, files, signal);
  progress({ message: 'Rendering', percent: RENDERING_PERCENT });
  const { id, name, slug, description = null } = template;
  const { locale, timezone, strict, header, footer } = settings;
  const { filename } = files.find((file) => file.id === plan.templateFileId)!;
  try {
    return await engine.render({
      ...sources,
      caller: ctx.viewer,
      filename,
      data: {
        ...data,
        inputs: values,
        user: { ...user, locale },
        template: { id, name, slug, description },
        now: new Date().toISOString(),
      },
      settings: { locale, timezone, strict },
      handler: handler.id,
      handlerOptions,
      header,
      footer,
      signal,
    });
  } catch (error) {
    throw toMistakeError(error);
  }
}

async function print(
  ctx: Context,
  { template, files, settings }: RenderPlan,
  { content, header, footer }: RenderedTemplate,
  { signal, progress }: RenderJob,
) {
  // Header and footer may get styles from files and data.
  checkFrames({ header, footer }, { isRendered: true });
  const onUnpack = (isUnpacking: boolean) =>
    progress({ message: isUnpacking ? 'Printing: unpacking the browser' : 'Printing', percent: PRINTING_PERCENT });
  onUnpack(false);
  const letterhead = files.find(({ id }) => id === template.letterheadId);
  return ctx.platform.pdfPrinter.print({
    caller: ctx.viewer,
    title: template.name,
    html: Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8'),
    header,
    footer,
    page: settings.page,
    letterhead: letterhead ? await readSource(ctx, letterhead) : null,
    onUnpack,
    signal,
  });
}
