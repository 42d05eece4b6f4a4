import { TEMPLATE } from '../../../entities/owned-kinds.ts';
import type { CreateTemplateInput, UpdateTemplateInput } from '../../../entities/template-changes-input.ts';
import type { Template } from '../../../entities/template.ts';
import type { Context } from '../../core/context.ts';
import { forbidden } from '../../core/errors.ts';
import { checkJsonBounds, invalid } from '../../core/input-checks.ts';
import { levelAllows } from '../../core/permissions.ts';
import { DEFAULT_TEMPLATE_TYPE, TEMPLATE_HANDLERS } from '../../core/template-handlers.ts';
import { accessLevelInTransaction } from '../resource/access-level.ts';
import { loadResource } from '../resource/load-resource.ts';
import { createOwned, updateOwned } from '../resource/owned-kind.ts';
import { checkUnused } from '../resource/references.ts';
import { findLetterheadId, findTemplateFileId } from './template-file-reference.ts';

const MAX_DEPTH = 20;
const OPTIONS_BOUNDS = { maxBytes: 16 * 1024, maxDepth: MAX_DEPTH };
const SETTINGS_BOUNDS = { maxBytes: 64 * 1024, maxDepth: MAX_DEPTH };

/** Creates a template without files, by default of the engine `nunjucks`. Returns its id. */
export function create(
  ctx: Context,
  { type, handler, handlerOptions, settings, templateFileId, letterheadId, ...input }: CreateTemplateInput,
): Promise<string> {
  const content = {
    ...chooseHandler(type, handler),
    handlerOptions: checkOptions(handlerOptions ?? {}),
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
    if (type !== undefined || handler !== undefined)
      Object.assign(template, chooseHandler(type ?? template.type, handler ?? template.handler));
    if (handlerOptions !== undefined) template.handlerOptions = checkOptions(handlerOptions ?? {});
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

/** Returns an engine and one of its handlers, by default the first. Throws BAD_USER_INPUT for a pair that does not exist. */
function chooseHandler(type: string = DEFAULT_TEMPLATE_TYPE, handler?: string): Pick<Template, 'type' | 'handler'> {
  const handlers = Object.hasOwn(TEMPLATE_HANDLERS, type) ? TEMPLATE_HANDLERS[type]! : null;
  if (!handlers) throw invalid('type', `must be one of ${Object.keys(TEMPLATE_HANDLERS).join(', ')}`);
  const chosen = handler ?? handlers[0]!;
  if (!handlers.includes(chosen))
    throw invalid('handler', `must be one of ${handlers.join(', ')} for the type ${type}`);
  return { type, handler: chosen };
}

const checkOptions = (options: Record<string, unknown>): Record<string, unknown> =>
  checkJsonBounds(options, 'handlerOptions', OPTIONS_BOUNDS);

const checkSettings = (settings: Record<string, unknown>): Record<string, unknown> =>
  checkJsonBounds(settings, 'settings', SETTINGS_BOUNDS);
