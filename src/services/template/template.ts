import { TEMPLATE } from '../../../entities/owned-kinds.ts';
import type { CreateTemplateInput, UpdateTemplateInput } from '../../../entities/template-changes-input.ts';
import type { Context } from '../../core/context.ts';
import { forbidden } from '../../core/errors.ts';
import { levelAllows } from '../../core/permissions.ts';
import { accessLevelInTransaction } from '../resource/access-level.ts';
import { loadResource } from '../resource/load-resource.ts';
import { createOwned, updateOwned } from '../resource/owned-kind.ts';
import { checkUnused } from '../resource/references.ts';
import { findLetterheadId, findTemplateFileId } from './template-file-reference.ts';
import { checkHandlerOptions, DEFAULT_TEMPLATE_TYPE, findHandler } from './template-handler.ts';
import { checkSettings } from './template-settings.ts';

/** Creates a template without files, by default of the engine `nunjucks`. Returns its id. */
export function create(
  ctx: Context,
  { type, handler, handlerOptions, settings, templateFileId, letterheadId, ...input }: CreateTemplateInput,
): Promise<string> {
  const engineId = type ?? DEFAULT_TEMPLATE_TYPE;
  const chosen = findHandler(ctx.platform, { type: engineId }, handler).handler;
  const content = {
    type: engineId,
    handler: chosen.id,
    handlerOptions: checkHandlerOptions(chosen, handlerOptions ?? {}),
    settings: checkSettings(settings ?? {}),
  };
  return ctx.transaction(async (tx) => {
    const template = await createOwned(ctx, tx, TEMPLATE, input, content);
    // A new template has no files, so that any id is unknown.
    if (templateFileId) await findTemplateFileId(tx, template, templateFileId);
    if (letterheadId) await findLetterheadId(tx, template, letterheadId);
    return template.id;
  });
}

/** Updates a template or a draft. Returns its id. */
export function update(
  ctx: Context,
  id: string,
  { type, handler, handlerOptions, settings, templateFileId, letterheadId, ...input }: UpdateTemplateInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const template = await loadResource(ctx, tx, TEMPLATE, id, 'template:write', { ifMatch: ctx.ifMatch });
    template.type = type ?? template.type;
    template.handler = handler ?? template.handler;
    const chosen = findHandler(ctx.platform, template, template.handler).handler;
    if (handlerOptions !== undefined) template.handlerOptions = checkHandlerOptions(chosen, handlerOptions ?? {});
    if (settings !== undefined) template.settings = checkSettings(settings ?? {});
    if (templateFileId !== undefined)
      template.templateFileId = templateFileId && (await findTemplateFileId(tx, template, templateFileId));
    if (letterheadId !== undefined)
      template.letterheadId = letterheadId && (await findLetterheadId(tx, template, letterheadId));
    await updateOwned(ctx, tx, TEMPLATE, template, input);
    return template.id;
  });
}

/**
 * Deletes a template with its files and its draft, or a draft alone. A draft is deleted by every user who may change the
 * template. Throws CONFLICT for a template that is in use.
 */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const template = await loadResource(ctx, tx, TEMPLATE, id, 'template:read', { ifMatch: ctx.ifMatch });
    const permission = template.parentId ? 'template:write' : 'template:delete';
    if (!levelAllows(await accessLevelInTransaction(ctx, tx, template), permission)) throw forbidden({ permission });
    await checkUnused(ctx, tx, 'template', template.id);
    tx.remove(template);
  });
}
