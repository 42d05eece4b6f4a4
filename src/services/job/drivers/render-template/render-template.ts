import { isDeepStrictEqual } from 'node:util';
import { JobAction } from '../../../../../entities/job-action.ts';
import { TEMPLATE } from '../../../../../entities/owned-kinds.ts';
import { TemplateInput } from '../../../../../entities/template-input.ts';
import type { Context } from '../../../../core/context.ts';
import { notFound, refused } from '../../../../core/errors.ts';
import { yieldInParts } from '../../../../core/files.ts';
import type { ActionRun, SavedAction } from '../../../../core/job-drivers.ts';
import { auditText } from '../../../resource/audit-read.ts';
import { loadUsedResource } from '../../../resource/load-resource.ts';
import { renderDocument, type RenderedDocument } from '../../../template/render-document.ts';
import { planRender, type RenderOptions } from '../../../template/render-plan.ts';
import { findHandler } from '../../../template/template-handler.ts';
import { checkParameters } from '../../../template/template-input-values.ts';
import { mayReadDocuments } from '../../job-action-file.ts';
import { replaceOutput } from '../../job-action-output.ts';
import { defineAction } from '../action-schema.ts';
import { runDataChecks, hideTemplateDetails } from './render-errors.ts';

/** `data` of the action. */
interface RenderData {
  templateId: string;
  params?: Record<string, unknown>;
  handler?: string;
  filename?: string;
}

export const renderTemplateAction = defineAction<RenderData>({
  id: 'render-template',
  name: 'Render template',
  description: 'Renders a document from a template to the file of the action, which emails can attach.',
  uses: 'template',
  properties: {
    templateId: { type: 'string', minLength: 1, maxLength: 255, description: 'Template, by id, slug or natural id.' },
    params: { type: 'object', description: 'Values of the inputs by name. Absent ones have their default.' },
    handler: {
      type: 'string',
      maxLength: 100,
      description: 'Output handler of the engine, e.g. `pdf`. Default: the one of the template.',
    },
    filename: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description: 'Name of the file, without or with the extension of the format. Default: the slug of the template.',
    },
  },
  required: { templateId: true },
  prepare,
  async run(run) {
    const { content, contentType, filename } = await render(run);
    await replaceOutput(
      { ...run, templateId: run.data.templateId },
      { filename, contentType, content: yieldInParts(content) },
    );
    run.log('Wrote the file');
  },
  async preview({ ctx, job, data }) {
    const { templateId, ...options } = data;
    if (!(await rendersAs(ctx, job.id)))
      throw refused('Only the owner of the job previews the document, as it has params');
    const plan = await ctx.transaction((tx) => planRender(ctx, tx, templateId, optionsOf(options)));
    return { template: plan.template.name, filename: plan.filename, contentType: plan.handler.contentType };
  },
});

const optionsOf = ({ params, handler, filename }: Omit<RenderData, 'templateId'>): RenderOptions => ({
  params: params ?? {},
  handler: handler ?? null,
  filename: filename ?? null,
});

/**
 * Returns the data with the id of the template. Settings that do not change are not checked: the caller may be unable
 * to read the template. Throws NOT_FOUND for a draft. Throws FORBIDDEN for callers who may not read the data of the
 * job's owner: with their own template they could find out whether the owner has a value.
 */
async function prepare(data: RenderData, { ctx, tx, ownerId, actionId }: SavedAction): Promise<RenderData> {
  const former = actionId ? await tx.findOne(JobAction, { id: actionId }) : null;
  if (former && isDeepStrictEqual(workOf(data), workOf(former.data as unknown as RenderData))) return { ...data };
  const template = await loadUsedResource(ctx, tx, TEMPLATE, data.templateId, 'template:read');
  if (!mayReadDocuments(ctx, { ownerId })) throw refused('Only the owner of the job chooses what it renders');
  if (template.parentId) throw notFound({ what: 'template', id: data.templateId });
  const inputs = await tx.find(TemplateInput, { templateId: template.id }, { orderBy: ['position'] });
  runDataChecks(() => {
    findHandler(ctx.platform, template, data.handler ?? template.handler);
    checkParameters(inputs, data.params ?? {});
  });
  return { ...data, templateId: template.id };
}

/** Returns whether the caller may read what a job renders. */
async function rendersAs(ctx: Context, jobId: string): Promise<boolean> {
  const [job] = await ctx.query<{ ownerId: string }>({
    text: `select owner_id as "ownerId" from dws.job where tenant_id = $1 and id = $2`,
    values: [ctx.viewer.tenantId, jobId],
  });
  return job !== undefined && mayReadDocuments(ctx, job);
}

/** Returns the effect of an action, without how often and how long it is tried. */
const workOf = ({ templateId, params, handler, filename }: RenderData): RenderData => ({
  templateId,
  params: params ?? {},
  ...(handler !== undefined && { handler }),
  ...(filename !== undefined && { filename }),
});

/** Renders the document as the owner of the job. */
async function render({ ctx, data, signal, progress }: ActionRun<RenderData>): Promise<RenderedDocument> {
  const { templateId, ...options } = data;
  try {
    const plan = await ctx.transaction((tx) => planRender(ctx, tx, templateId, optionsOf(options)));
    const document = await renderDocument(ctx, plan, { signal, progress: ({ percent }) => progress(percent ?? 0) });
    const parameters = Object.keys(data).filter((name) => name !== 'templateId');
    const audited = { action: 'renderTemplate', kind: 'template', key: null, resourceId: plan.template.id, parameters };
    await auditText(ctx, audited, document.content.byteLength);
    return document;
  } catch (error) {
    throw hideTemplateDetails(error);
  }
}
