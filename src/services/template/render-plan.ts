import { TEMPLATE } from '../../../entities/owned-kinds.ts';
import type { TemplateFileRole } from '../../../entities/template-file.ts';
import { TemplateInput } from '../../../entities/template-input.ts';
import { TemplateProcessor } from '../../../entities/template-processor.ts';
import type { Template } from '../../../entities/template.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import { cleanFilename, withoutFolders } from '../../core/files.ts';
import type { TemplateRenderInput } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import type { TemplateEngine, TemplateHandler } from '../../core/template-engine.ts';
import { loadUsedResource } from '../resource/load-resource.ts';
import { loadRenderUser, type RenderUser } from './render-user.ts';
import { findTemplateFileId } from './template-file-reference.ts';
import { checkHandlerOptions, findHandler } from './template-handler.ts';
import { checkParameters } from './template-input-values.ts';
import { readSettings, type TemplateSettings } from './template-settings.ts';

/** A file of a template. */
export interface PlannedFile extends Record<string, unknown> {
  id: string;
  filename: string;
  role: TemplateFileRole;
  contentType: string;
  /** Id of the stored file. Null for an empty file. */
  fileId: string | null;
  size: number;
}

/** A rendering that was checked, with the template as it was then. */
export interface RenderPlan {
  template: Template;
  engine: TemplateEngine;
  handler: TemplateHandler;
  handlerOptions: Record<string, unknown>;
  /** Id of the TEMPLATE file to render. */
  templateFileId: string;
  files: readonly PlannedFile[];
  processors: readonly TemplateProcessor[];
  /** Values of the inputs by name, with their defaults. */
  values: Record<string, unknown>;
  settings: TemplateSettings;
  user: RenderUser;
  /** Name of the document. */
  filename: string;
  /** Whether only the first rows of each processor are read. */
  preview: boolean;
}

/** Options of a rendering, in addition to the template. Absent keys have the value of the template. */
export type RenderOptions = Partial<Omit<TemplateRenderInput, 'templateId'>>;

/**
 * Reads a template or a draft and checks the rendering. Locks the template, so that all parts belong together. Throws
 * NOT_FOUND, BAD_USER_INPUT naming the invalid values, CONFLICT for a template without a file to render.
 */
export async function planRender(
  ctx: Context,
  tx: Transaction,
  templateId: string,
  options: RenderOptions = {},
): Promise<RenderPlan> {
  const template = await loadUsedResource(ctx, tx, TEMPLATE, templateId, 'template:read');
  const { engine, handler } = findHandler(ctx.platform, template, options.handler ?? template.handler);
  const templateFileId = await findFileToRender(tx, template, options.templateFileId ?? null);
  const [files, inputs, processors, user] = await Promise.all([
    loadFiles(tx, template),
    tx.find(TemplateInput, { templateId: template.id }, { orderBy: ['position'] }),
    tx.find(TemplateProcessor, { templateId: template.id }, { orderBy: ['position'] }),
    loadRenderUser(ctx, tx),
  ]);
  return {
    template,
    engine,
    handler,
    handlerOptions: optionsFor(template, handler, options.handlerOptions ?? null),
    templateFileId,
    files,
    processors,
    values: checkParameters(inputs, options.params ?? {}),
    settings: readSettings(template.settings, user),
    user,
    filename: nameOf(options.filename ?? template.slug, handler),
    preview: options.preview ?? false,
  };
}

async function findFileToRender(tx: Transaction, template: Template, id: string | null): Promise<string> {
  if (id !== null) return findTemplateFileId(tx, template, id);
  if (!template.templateFileId) throw conflict('The template has no file to render');
  return template.templateFileId;
}

/** Loads the files of a template, without their contents. */
export const loadFiles = (
  tx: Pick<Transaction, 'query'>,
  { tenantId, id }: Pick<Template, 'tenantId' | 'id'>,
): Promise<PlannedFile[]> =>
  tx.query<PlannedFile>({
    text: `
      select t.id, t.filename, t.role, t.content_type as "contentType", t.file_id as "fileId",
        coalesce(f.size, 0) as size
      from dws.template_file t
      left join dws.stored_file f on f.id = t.file_id
      where t.tenant_id = $1 and t.template_id = $2
      order by t.filename`,
    values: [tenantId, id],
  });

/** Returns the options of a handler: the options of the request, or of the template if they are for this handler. */
const optionsFor = (
  template: Template,
  handler: TemplateHandler,
  options: Record<string, unknown> | null,
): Record<string, unknown> =>
  checkHandlerOptions(handler, options ?? (handler.id === template.handler ? template.handlerOptions : {}));

/** Returns the name of a document, with the extension of its format. */
function nameOf(filename: string, handler: TemplateHandler): string {
  const extension = `.${handler.extension}`;
  const hasExtension = filename.toLowerCase().endsWith(extension);
  return cleanFilename(withoutFolders(hasExtension ? filename : `${filename}${extension}`));
}
