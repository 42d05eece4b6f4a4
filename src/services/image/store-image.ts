import { Image } from '../../../entities/image.ts';
import { preparePicture } from '../../adapters/pictures/pictures.ts';
import type { Context } from '../../core/context.ts';
import { ApiError, tooLarge, upstreamFailed } from '../../core/errors.ts';
import { yieldInParts, type SavedFile } from '../../core/files.ts';
import { newRow } from '../../core/new-row.ts';
import type { ImageCreateInput } from '../../core/operations.ts';
import { PICTURE_TYPES, type PictureFormat } from '../../core/pictures.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { checkQuota, loadBytesLeft } from '../resource/quota.ts';
import { deleteStoredBytes, insertStoredFile } from '../resource/stored-file.ts';
import type { ImageResult } from './image-request.ts';
import { imageUrl } from './image.ts';

/** Formats that are stored as providers return them. */
const FORMATS: readonly PictureFormat[] = ['png', 'jpeg', 'webp'];
/** The picture that is drawn to check an image. It is not kept. */
const CHECK = { check: { as: 'square', size: 16 } } as const;

/** The stored bytes of an image. */
export type SavedImage = SavedFile & { format: PictureFormat };

/**
 * Stores the bytes of an image, whose format is checked by their content. Throws PAYLOAD_TOO_LARGE past the quota of
 * the tenant. Throws UPSTREAM_FAILED for bytes that are not exactly one PNG, JPEG or WebP, or for an image that is
 * damaged or has too many pixels.
 */
export async function saveImage(ctx: Context, bytes: Buffer): Promise<SavedImage> {
  const { platform, viewer, request } = ctx;
  const { TENANT_QUOTA_BYTES: quota } = platform.config;
  const left = await loadBytesLeft(ctx, viewer.tenantId, quota);
  if (bytes.length > left) throw tooLarge(`The quota of ${quota} bytes does not allow another image`);
  const saved = await platform.files.save(yieldInParts(bytes), 0);
  try {
    const { format } = await preparePicture(platform.files.path(saved.id), CHECK, viewer, request.signal);
    if (FORMATS.includes(format)) return { ...saved, format };
    throw unusable(`it is ${format.toUpperCase()}, not PNG, JPEG or WebP`);
  } catch (error) {
    await deleteStoredBytes(ctx, [saved.id]);
    throw error instanceof ApiError && error.status === 400 ? unusable(error.message) : error;
  }
}

/** The caller cannot change the provider's response, so that it is an error of the provider. */
const unusable = (reason: string) => upstreamFailed(`The AI provider returned an image that cannot be used: ${reason}`);

/** Inserts a stored image. Throws PAYLOAD_TOO_LARGE past the quota of the tenant. */
export async function insertImage(
  tx: Transaction,
  { config }: Pick<Platform, 'config'>,
  { tenantId, userId }: { tenantId: string; userId: string },
  { imageId, assistantId, model, size, sealedPrompt }: ImageCreateInput,
  saved: SavedImage,
): Promise<ImageResult> {
  const contentType = PICTURE_TYPES[saved.format];
  const isKept = assistantId !== null && (await lockAssistant(tx, tenantId, assistantId));
  insertStoredFile(tx, tenantId, { ...saved, filename: `image.${saved.format}`, contentType });
  const content = { userId, assistantId: isKept ? assistantId : null, fileId: saved.id, sealedPrompt, model, size };
  const image = newRow(Image, { tenantId, id: imageId, ...content });
  tx.insert(image);
  tx.flush();
  // The new image is already counted.
  await checkQuota(tx, tenantId, config.TENANT_QUOTA_BYTES, 0);
  return { id: imageId, url: imageUrl(imageId), model, size, createdAt: image.createdAt.toISOString() };
}

/** Locks an assistant against deletion. Returns whether it exists. */
async function lockAssistant(tx: Transaction, tenantId: string, id: string): Promise<boolean> {
  const rows = await tx.query({
    text: `select from dws.assistant where tenant_id = $1 and id = $2 for key share`,
    values: [tenantId, id],
  });
  return rows.length > 0;
}
