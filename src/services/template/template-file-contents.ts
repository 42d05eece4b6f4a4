import { TEMPLATE } from '../../../entities/owned-kinds.ts';
import type { SetTemplateFileContentsInput, UploadTemplateFileInput } from '../../../entities/template-file-input.ts';
import { TemplateFile, type TemplateFileRole } from '../../../entities/template-file.ts';
import type { Template } from '../../../entities/template.ts';
import type { Context } from '../../core/context.ts';
import { downloadOf } from '../../core/downloads.ts';
import { preconditionFailed } from '../../core/errors.ts';
import { checkFilePath } from '../../core/file-path.ts';
import { cleanFilename, type SavedFile } from '../../core/files.ts';
import { DEFAULT_MEDIA_TYPE, isMediaType, mediaTypeOf } from '../../core/media-types.ts';
import type { Transaction } from '../../core/platform.ts';
import { takesTemplate } from '../../core/template-engine.ts';
import { loadResource } from '../resource/load-resource.ts';
import { checkQuota } from '../resource/quota.ts';
import { sendStoredContents } from '../resource/send-contents.ts';
import { EMPTY_SHA256, insertStoredFile, replaceBytes } from '../resource/stored-file.ts';
import { checkUsage, maxFileBytes } from './template-file-limits.ts';
import { addFile, hasTemplateFile } from './template-file.ts';
import { loadFile, loadForPart } from './template-part.ts';

/** Stores an uploaded file as a new file of a template. Returns its id. */
export async function upload(ctx: Context, templateId: string, input: UploadTemplateFileInput): Promise<string> {
  const { file } = input;
  // Access and space are checked before the file is received.
  const maxBytes = await ctx.transaction(async (tx) =>
    maxFileBytes(ctx, tx, await loadResource(ctx, tx, TEMPLATE, templateId, 'template:write'), file.minSize, null),
  );
  const saved = await ctx.platform.files.save(file.content, maxBytes);
  let id = '';
  await replaceBytes(ctx, saved.id, async () => {
    // A form may have further parts after the file, so its input is complete only now.
    const whole = ((await file.wholeInput?.()) as UploadTemplateFileInput | undefined) ?? input;
    id = await addUploaded(ctx, templateId, whole, saved);
    return null;
  });
  return id;
}

function addUploaded(
  ctx: Context,
  templateId: string,
  { file, filename, role, embedded }: UploadTemplateFileInput,
  saved: SavedFile,
): Promise<string> {
  const name = checkFilePath(filename ?? cleanFilename(file.filename), 'filename');
  const stated = isMediaType(file.contentType) ? file.contentType : DEFAULT_MEDIA_TYPE;
  const contentType = mediaTypeOf(name) ?? stated;
  return ctx.transaction(async (tx) => {
    const template = await loadForPart(ctx, tx, templateId);
    insertStoredFile(tx, template.tenantId, { ...saved, filename: cleanFilename(name), contentType });
    const added = await addFile(tx, template, {
      filename: name,
      role: role ?? (await defaultRole(ctx, tx, template, name)),
      contentType,
      embedded: embedded ?? false,
      fileId: saved.id,
    });
    await checkSpace(ctx, tx, template);
    return added.id;
  });
}

/** Returns the role of an uploaded file that is sent without one. */
async function defaultRole(
  { platform }: Context,
  tx: Transaction,
  template: Template,
  filename: string,
): Promise<TemplateFileRole> {
  const engine = platform.templateEngines.get(template.type);
  const isTemplate = engine !== undefined && takesTemplate(engine, filename);
  return isTemplate && !(await hasTemplateFile(tx, template)) ? 'TEMPLATE' : 'ASSET';
}

/** Throws 413 if the files of a template or of the tenant take too much space with the new one. */
async function checkSpace(ctx: Context, tx: Transaction, template: Template): Promise<void> {
  tx.flush();
  await checkUsage(tx, template);
  // The new file is already counted, and the replaced one no longer.
  await checkQuota(tx, template.tenantId, ctx.platform.config.TENANT_QUOTA_BYTES, 0);
}

/** Replaces the contents of a file. Returns its id. `If-Match` applies to the contents. */
export async function setContents(
  ctx: Context,
  templateId: string,
  key: string,
  { file }: SetTemplateFileContentsInput,
): Promise<string> {
  // Access, `If-Match` and space are checked before the contents are received, and again after.
  const maxBytes = await ctx.transaction(async (tx) => {
    const template = await loadResource(ctx, tx, TEMPLATE, templateId, 'template:write');
    const { id, size } = await loadStored(ctx, tx, await loadFile(tx, template, key));
    return maxFileBytes(ctx, tx, template, file.minSize, { id, size });
  });
  const saved = await ctx.platform.files.save(file.content, maxBytes);
  let id = '';
  await replaceBytes(ctx, saved.id, async () => {
    await file.wholeInput?.();
    return ctx.transaction(async (tx) => {
      const template = await loadForPart(ctx, tx, templateId);
      const changed = await loadFile(tx, template, key);
      await loadStored(ctx, tx, changed);
      const { tenantId, filename, contentType, fileId } = changed;
      insertStoredFile(tx, tenantId, { ...saved, filename: cleanFilename(filename), contentType });
      changed.fileId = saved.id;
      id = changed.id;
      await checkSpace(ctx, tx, template);
      return fileId;
    });
  });
  return id;
}

/** Returns id and size of a file. Throws 412 if `If-Match` does not allow its contents. */
async function loadStored(ctx: Context, tx: Transaction, file: TemplateFile): Promise<{ id: string; size: number }> {
  const [stored] = await tx.query<{ size: number; sha256: string }>({
    text: `select size, sha256 from dws.stored_file where tenant_id = $1 and id = $2`,
    values: [file.tenantId, file.fileId ?? null],
  });
  if (ctx.ifMatchTags && !ctx.ifMatchTags.includes(stored?.sha256 ?? EMPTY_SHA256))
    throw preconditionFailed({ what: 'template file' });
  return { id: file.id, size: stored?.size ?? 0 };
}

/**
 * Sends the contents of a file in response to a request for its bytes. Returns the identity of the contents; null for
 * other requests.
 */
export const sendContents = (
  ctx: Context,
  templateId: string,
  id: string,
): Promise<Pick<TemplateFile, 'size' | 'sha256'> | null> =>
  sendStoredContents(ctx, { what: 'template file', id, audited: downloadOf('template.file', templateId) }, () =>
    ctx.read.one(TemplateFile, { id }, ['size', 'sha256', 'fileId']),
  );
