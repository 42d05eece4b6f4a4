import type { RenderTemplateInput } from '../../../entities/render-template-input.ts';
import type { Context } from '../../core/context.ts';
import { runInline } from '../operation/operation-inline.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { wait as waitFor } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { deleteUnreferenced } from '../resource/stored-file.ts';
import { renderDocument } from './render-document.ts';
import { planRender, type RenderPlan } from './render-plan.ts';
import { insertRendition, saveDocument, type RenditionResult } from './rendition.ts';

/** A rendering that was started. */
export interface StartedRendering {
  /** Null for a preview that ran without `progress` while its caller waited. */
  operation: OperationRecord | null;
  /** Null while the operation runs. */
  result: RenditionResult | null;
}

/**
 * Renders a template or a draft with the access of the caller, after all possible checks. A preview runs in this
 * process if its caller waits.
 */
export async function render(
  ctx: Context,
  templateId: string,
  input: RenderTemplateInput,
  progress: string | null | undefined,
  wait: boolean,
): Promise<StartedRendering> {
  if (input.preview && wait) return renderInline(ctx, templateId, input, progress);
  const id = await ctx.transaction(async (tx) => {
    const { template } = await planRender(ctx, tx, templateId, optionsOf(input));
    return operations.start(ctx, tx, {
      operation: 'template.render',
      resource: { kind: 'template', id: template.id },
      progress: progress ?? null,
      input: { templateId: template.id, ...optionsOf(input) },
    });
  });
  const operation = wait ? await waitFor(ctx, id) : await operations.get(ctx, id);
  return { operation, result: operation.result as RenditionResult | null };
}

const optionsOf = ({ params, templateFileId, handler, handlerOptions, filename, preview }: RenderTemplateInput) => ({
  params: params ?? {},
  templateFileId: templateFileId ?? null,
  handler: handler ?? null,
  handlerOptions: handlerOptions ?? null,
  filename: filename ?? null,
  preview: preview ?? false,
});

/** Renders in this process. With `progress` the rendering has a record. */
async function renderInline(
  ctx: Context,
  templateId: string,
  input: RenderTemplateInput,
  progress: string | null | undefined,
): Promise<StartedRendering> {
  const plan = await ctx.transaction((tx) => planRender(ctx, tx, templateId, optionsOf(input)));
  const subject = {
    operation: 'template.render',
    resource: { kind: 'template', id: plan.template.id },
    progress,
  } as const;
  const result = await runInline(ctx, subject, ({ signal, progress: report }) =>
    renderAndStore(ctx, plan, { signal: AbortSignal.any([signal, ctx.request.signal]), progress: report }),
  );
  return { operation: progress == null ? null : await operations.get(ctx, String(progress)), result };
}

async function renderAndStore(
  ctx: Context,
  plan: RenderPlan,
  job: Parameters<typeof renderDocument>[2],
): Promise<RenditionResult> {
  const document = await renderDocument(ctx, plan, job);
  const saved = await saveDocument(ctx, document);
  try {
    return await ctx.transaction((tx) => insertRendition(tx, ctx.platform, ctx.viewer, plan, document, saved));
  } catch (error) {
    await deleteUnreferenced(ctx, [saved.id]);
    throw error;
  }
}
