import type { CreateTemplateFileInput, UpdateTemplateFileInput } from '../../../entities/template-file-input.ts';
import { TemplateFile } from '../../../entities/template-file.ts';
import type { Template } from '../../../entities/template.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import { checkFilePath } from '../../core/file-path.ts';
import { invalid } from '../../core/input-checks.ts';
import { DEFAULT_MEDIA_TYPE, mediaTypeOf } from '../../core/media-types.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkVersion } from '../resource/load-resource.ts';
import { deleteUnreferenced } from '../resource/stored-file.ts';
import { replaceTexts } from './file-references.ts';
import { checkFileCount } from './template-file-limits.ts';
import { findTemplateFileId, isLetterheadType } from './template-file-reference.ts';
import { loadFile, loadForPart } from './template-part.ts';

/** Creates an empty file. Returns its id. */
export function create(
  ctx: Context,
  templateId: string,
  { filename, role, contentType, embedded }: CreateTemplateFileInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const template = await loadForPart(ctx, tx, templateId);
    await checkFileCount(tx, template);
    const name = checkFilePath(filename, 'filename');
    const type = contentType ?? mediaTypeOf(name) ?? DEFAULT_MEDIA_TYPE;
    return (await addFile(tx, template, { filename: name, role, contentType: type, embedded: embedded ?? false })).id;
  });
}

/** Adds a file to a template, which is locked. The first file with the role TEMPLATE becomes the file to render. */
export async function addFile(
  tx: Transaction,
  template: Template,
  columns: Pick<TemplateFile, 'filename' | 'role' | 'contentType' | 'embedded'> & Partial<TemplateFile>,
): Promise<TemplateFile> {
  await checkName(tx, template, columns.filename);
  const isFirst = columns.role === 'TEMPLATE' && !(await hasTemplateFile(tx, template));
  const file = tx.insert(newRow(TemplateFile, { ...columns, tenantId: template.tenantId, templateId: template.id }));
  // The activity of the file is sufficient.
  if (isFirst) tx.writeUnrecorded(template, { templateFileId: file.id });
  return file;
}

/** Returns whether a template has a file with the role TEMPLATE. */
export const hasTemplateFile = async (tx: Transaction, { id }: Template): Promise<boolean> =>
  (await tx.count(TemplateFile, { templateId: id, role: 'TEMPLATE' })) > 0;

/** Throws CONFLICT if a template has a file of this name. */
async function checkName(tx: Transaction, { id }: Template, filename: string): Promise<void> {
  if (await tx.findOne(TemplateFile, { templateId: id, filename }))
    throw conflict(`The template already has a file ${JSON.stringify(filename)}`);
}

/** Changes name, media type or visibility of a file. Returns its id. */
export function update(
  ctx: Context,
  templateId: string,
  key: string,
  { filename, contentType, embedded }: UpdateTemplateFileInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const template = await loadForPart(ctx, tx, templateId);
    const file = await loadFile(tx, template, key);
    checkVersion(ctx, 'template file', file.version);
    if (filename !== undefined) await rename(tx, template, file, checkFilePath(filename, 'filename'));
    if (contentType !== undefined) {
      if (file.id === template.letterheadId && !isLetterheadType(contentType))
        throw invalid('contentType', 'must be the type of a PDF, PNG, JPEG or SVG, as the file is the letterhead');
      file.contentType = contentType;
    }
    if (embedded !== undefined) file.embedded = embedded;
    return file.id;
  });
}

async function rename(tx: Transaction, template: Template, file: TemplateFile, filename: string): Promise<void> {
  if (filename === file.filename) return;
  if (file.role === 'TEMPLATE') throw invalid('filename', 'of a file with the role TEMPLATE cannot change');
  await checkName(tx, template, filename);
  file.filename = filename;
}

/** Deletes a file, and the references to it: the file to render, the letterhead, and its id in settings. */
export async function remove(ctx: Context, templateId: string, key: string): Promise<void> {
  const storedId = await ctx.transaction(async (tx) => {
    const template = await loadForPart(ctx, tx, templateId);
    const file = await loadFile(tx, template, key);
    checkVersion(ctx, 'template file', file.version);
    tx.writeUnrecorded(template, {
      templateFileId: template.templateFileId === file.id ? null : template.templateFileId,
      letterheadId: template.letterheadId === file.id ? null : template.letterheadId,
      settings: replaceTexts(template.settings, new Map([[file.id, null]])),
    });
    tx.remove(file);
    return file.fileId;
  });
  if (storedId) await deleteUnreferenced(ctx, [storedId]);
}

/** Sets the file that is rendered by default; null for none. Returns the id of the template. */
export function setTemplateFile(ctx: Context, id: string, templateFileId: string | null): Promise<string> {
  return ctx.transaction(async (tx) => {
    const template = await loadForPart(ctx, tx, id);
    // `If-Match` applies to the response of GET on the same path.
    const former = template.templateFileId ? await tx.findOne(TemplateFile, { id: template.templateFileId }) : null;
    checkVersion(ctx, 'template file', former?.version ?? 0);
    template.templateFileId = templateFileId && (await findTemplateFileId(tx, template, templateFileId));
    return template.id;
  });
}
