import { preparePicture } from '../../adapters/pictures/pictures.ts';
import type { Context } from '../../core/context.ts';
import { tooLarge } from '../../core/errors.ts';
import { cleanFilename, yieldOnce, type IncomingFile, type SavedFile } from '../../core/files.ts';
import { invalid } from '../../core/input-checks.ts';
import { MAX_PICTURE_BYTES, type Drawing, type PreparedPicture } from '../../core/pictures.ts';
import { deleteStoredBytes, deleteUnreferenced } from './stored-file.ts';

/** A stored file that should be a picture. */
export type UploadedPicture = SavedFile & { filename: string };

/**
 * Saves an upload without checking it. The caller deletes the file if it is not used. `check` receives the input with
 * the parts that a form may have after the file; if it throws, the file is deleted. `name` is the name of a file
 * without one.
 */
export async function receivePicture<T = undefined>(
  ctx: Context,
  file: IncomingFile,
  name: string,
  check?: (wholeInput: object | undefined) => T,
): Promise<{ source: UploadedPicture; checked: T | undefined }> {
  if (file.minSize > MAX_PICTURE_BYTES)
    throw tooLarge(`The file is larger than the maximum of ${MAX_PICTURE_BYTES} bytes`);
  const saved = await ctx.platform.files.save(file.content, MAX_PICTURE_BYTES);
  try {
    // Unknown parts after the file are refused.
    const wholeInput = await file.wholeInput?.();
    if (saved.size === 0) throw invalid('file', 'must not be empty');
    return { source: { ...saved, filename: cleanFilename(file.filename ?? name) }, checked: check?.(wholeInput) };
  } catch (error) {
    await deleteStoredBytes(ctx, [saved.id]);
    throw error;
  }
}

/** The result of storing a picture, and the ids of files that no row refers to. */
interface StoredPicture<T> {
  result: T;
  unused: string[];
}

/**
 * Checks a received picture and draws from it. `attach` saves the bytes that it uses with `save`, and inserts their
 * rows. Afterwards the unused files are deleted; after an error all saved files and the received one. Throws
 * BAD_USER_INPUT for a file that is not a harmless picture, and like `preparePicture`.
 */
export async function storePicture<Name extends string, T>(
  ctx: Context,
  source: UploadedPicture,
  drawings: Readonly<Record<Name, Drawing>>,
  attach: (
    picture: PreparedPicture<Name>,
    save: (bytes: Uint8Array) => Promise<SavedFile>,
  ) => Promise<StoredPicture<T>>,
): Promise<T> {
  const { files } = ctx.platform;
  const stored = [source.id];
  const save = async (bytes: Uint8Array): Promise<SavedFile> => {
    const saved = await files.save(yieldOnce(bytes), 0);
    stored.push(saved.id);
    return saved;
  };
  try {
    const picture = await preparePicture(files.path(source.id), drawings, ctx.viewer, ctx.request.signal);
    const { result, unused } = await attach(picture, save);
    await deleteStoredBytes(ctx, unused);
    return result;
  } catch (error) {
    await deleteUnreferenced(ctx, stored);
    throw error;
  }
}
