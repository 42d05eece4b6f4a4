import type { Platform } from '../core/platform.ts';
import { principalOf } from '../services/identity/principal-viewer.ts';
import { createJobContext } from '../services/job/job-context.ts';
import { deleteUnreferenced } from '../services/resource/stored-file.ts';
import { renderDocument } from '../services/template/render-document.ts';
import { planRender } from '../services/template/render-plan.ts';
import { insertRendition, saveDocument } from '../services/template/rendition.ts';
import type { Handler, RunningClaim, Prepared } from './handler.ts';

/**
 * Renders a template as the user who requested it. The template is read when the rendering starts, so it includes a
 * draft that was committed after the request. A rendering whose worker dies is repeated only once, because the template
 * itself may crash workers.
 */
export const templateRender: Handler<'template.render'> = {
  takeover: 'once',
  run: renderTemplate,
};

async function renderTemplate(
  job: RunningClaim<'template.render'>,
  platform: Platform,
): Promise<Prepared<'template.render'>> {
  const { templateId, ...options } = job.input;
  const principal = await principalOf(platform.system, job.tenantId, job.userId);
  const ctx = await createJobContext(platform, job.tenantId, principal, job.signal);
  const plan = await ctx.transaction((tx) => planRender(ctx, tx, templateId, options));
  const document = await renderDocument(ctx, plan, job);
  job.signal.throwIfAborted();
  const saved = await saveDocument(ctx, document);
  return {
    publish: (tx) => insertRendition(tx, platform, ctx.viewer, plan, document, saved),
    release: () => deleteUnreferenced(ctx, [saved.id]),
  };
}
