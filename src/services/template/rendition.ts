import { Rendition } from '../../../entities/rendition.ts';
import type { Context } from '../../core/context.ts';
import { downloadOf } from '../../core/downloads.ts';
import { notFound, tooLarge } from '../../core/errors.ts';
import { yieldInParts, type SavedFile } from '../../core/files.ts';
import { newRow } from '../../core/new-row.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import type { ReadRow } from '../../core/read/reader.ts';
import type { Viewer } from '../../core/viewer.ts';
import { auditContent, auditText } from '../resource/audit-read.ts';
import { checkQuota, loadBytesLeft } from '../resource/quota.ts';
import { insertStoredFile } from '../resource/stored-file.ts';
import type { RenderedDocument } from './render-document.ts';
import type { RenderPlan } from './render-plan.ts';

const HOUR_MS = 3_600_000;
/** Lifetime of a rendition, and of a preview. */
const RENDITION_TTL_MS = 24 * HOUR_MS;
const PREVIEW_TTL_MS = HOUR_MS;

/** Maximum number and size of the renditions of a user. Older ones expire early. */
const MAX_RENDITIONS = 200;
const MAX_RENDITION_BYTES = 2_000_000_000;

/** A rendition as a client gets it. */
export type RenditionResult = Pick<
  Rendition,
  'id' | 'templateId' | 'handler' | 'filename' | 'contentType' | 'size' | 'pages'
> & { createdAt: string; expiresAt: string };

/** Stores the bytes of a document. Throws 413 past the quota of the tenant. */
export async function saveDocument(
  { query, viewer, platform }: Pick<Context, 'query' | 'viewer' | 'platform'>,
  { content }: Pick<RenderedDocument, 'content'>,
): Promise<SavedFile> {
  const { TENANT_QUOTA_BYTES: quota } = platform.config;
  const left = await loadBytesLeft({ query }, viewer.tenantId, quota);
  if (content.byteLength > left) throw tooLarge(`The quota of ${quota} bytes does not allow another document`);
  return platform.files.save(yieldInParts(content), 0);
}

/** Inserts the rendition of a stored document. Deletes the oldest ones of the user beyond the limits. */
export async function insertRendition(
  tx: Transaction,
  { config }: Pick<Platform, 'config'>,
  { tenantId, userId }: Pick<Viewer, 'tenantId' | 'userId'>,
  { template, handler, preview }: Pick<RenderPlan, 'template' | 'handler' | 'preview'>,
  { filename, contentType, pages }: Omit<RenderedDocument, 'content'>,
  saved: SavedFile,
): Promise<RenditionResult> {
  await lockTemplate(tx, template);
  deleteOldest(tx, tenantId, userId, saved.size);
  insertStoredFile(tx, tenantId, { ...saved, filename, contentType });
  const rendition = newRow(Rendition, {
    tenantId,
    templateId: template.id,
    userId,
    handler: handler.id,
    filename,
    contentType,
    size: saved.size,
    pages,
    expiresAt: new Date(Date.now() + (preview ? PREVIEW_TTL_MS : RENDITION_TTL_MS)),
    fileId: saved.id,
  });
  tx.insert(rendition);
  tx.flush();
  // The new document is already counted.
  await checkQuota(tx, tenantId, config.TENANT_QUOTA_BYTES, 0);
  const { id, templateId, size, createdAt, expiresAt } = rendition;
  return {
    id,
    templateId,
    handler: handler.id,
    filename,
    contentType,
    size,
    pages,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  };
}

/** Locks a template against deletion. Throws NOT_FOUND if it was deleted while it was rendered. */
async function lockTemplate(tx: Transaction, { tenantId, id }: RenderPlan['template']): Promise<void> {
  const [found] = await tx.query({
    text: `select from dws.template where tenant_id = $1 and id = $2 for key share`,
    values: [tenantId, id],
  });
  if (!found) throw notFound({ what: 'template', id });
}

/**
 * Deletes the renditions of a user beyond the limits, assuming one more of `addedBytes`. The janitor deletes their
 * bytes.
 */
const deleteOldest = (tx: Transaction, tenantId: string, userId: string, addedBytes: number): void =>
  tx.execute({
    text: `
      delete from dws.rendition
      where tenant_id = $1 and id in (
        select id
        from (
          select id, row_number() over newest as n, sum(size) over newest as bytes
          from dws.rendition
          where tenant_id = $1 and user_id = $2
          window newest as (order by created_at desc, id desc)
        ) renditions
        where n > $3 or bytes > $4
      )`,
    values: [tenantId, userId, MAX_RENDITIONS - 1, MAX_RENDITION_BYTES - addedBytes],
  });

/** The columns that sending the contents of a rendition requires. */
export const CONTENT_COLUMNS = ['templateId', 'size', 'sha256', 'contentType', 'fileId'] as const;
type ReadableContents = Pick<ReadRow<Rendition>, 'id' | 'templateId' | (typeof CONTENT_COLUMNS)[number]>;

/**
 * Sends the contents of a rendition, in a request for its bytes, unless the client has them. Throws NOT_FOUND if they
 * were deleted during the request.
 */
export async function sendRendition(
  ctx: Pick<Context, 'platform' | 'request' | 'viewer' | 'sendFile' | 'revalidate'>,
  { id, templateId, size, sha256, fileId }: ReadableContents,
): Promise<void> {
  if (!ctx.sendFile || ctx.revalidate?.(sha256)) return;
  const content = await ctx.platform.files.open(fileId);
  if (!content) throw notFound({ what: 'rendition', id });
  ctx.sendFile(await auditContent(ctx, downloadOf('template.rendition', templateId), content), size);
}

/** Maximum size of the texts that one request returns, in bytes. Larger documents are read by `contentsUrl`. */
const MAX_TEXT_BYTES = 5_000_000;
const TEXT_TYPES = /^(?:text\/|application\/(?:json|xml)\b)/;

/** Bytes of the texts that a request has read. */
const textBytes = new WeakMap<object, number>();

/** Returns a document as text, null for other formats. Throws 413 beyond 5 MB for all texts of a request. */
export async function readText(
  ctx: Pick<Context, 'platform' | 'request' | 'viewer'>,
  { id, templateId, size, contentType, fileId }: ReadableContents,
): Promise<string | null> {
  if (!TEXT_TYPES.test(contentType)) return null;
  const bytes = (textBytes.get(ctx) ?? 0) + size;
  if (bytes > MAX_TEXT_BYTES)
    throw tooLarge(`The texts have more than ${MAX_TEXT_BYTES} bytes: read them by contentsUrl`);
  textBytes.set(ctx, bytes);
  const content = await ctx.platform.files.read(fileId);
  if (!content) throw notFound({ what: 'rendition', id });
  await auditText(ctx, downloadOf('template.rendition', templateId), size);
  return content.toString('utf8');
}
