import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Context, PublicContext } from '../../core/context.ts';
import { badInput } from '../../core/errors.ts';
import { FairGate } from '../../core/fair-gate.ts';

/** A picture as a response contains it. */
export interface PictureContents {
  contentType: string;
  sha256: string;
  /** Null if the request sends the file, and if its client has it. */
  bytes: Buffer | null;
}

/** A picture that is stored, or the default one. */
export interface PictureFile {
  contentType: string;
  sha256: string;
  size: number;
  /** Undefined if the file is missing. */
  read(): Promise<Buffer | undefined>;
  open(): Promise<Readable | undefined>;
}

/** The row of the stored file of a picture. */
export interface StoredPictureRow extends Record<string, unknown> {
  id: string;
  contentType: string;
  sha256: string;
  size: number;
}

/** Returns the picture of a stored file. */
export const storedPicture = (
  { platform }: Pick<PublicContext, 'platform'>,
  { id, ...row }: StoredPictureRow,
): PictureFile => ({
  ...row,
  read: () => platform.files.read(id),
  open: () => platform.files.open(id),
});

/** Returns the picture of bytes in memory. */
export function pictureOf(contentType: string, content: Uint8Array): PictureFile {
  const bytes = Buffer.from(content);
  return {
    contentType,
    sha256: hash('sha256', bytes),
    size: bytes.length,
    read: async () => bytes,
    open: async () => Readable.from(bytes),
  };
}

/** Reads a picture, or opens it for a request that sends the file. Returns undefined if the file is missing. */
export async function readPicture(ctx: PublicContext, file: PictureFile): Promise<PictureContents | undefined> {
  const { contentType, sha256 } = file;
  if (!ctx.sendFile) {
    const bytes = await file.read();
    return bytes && { contentType, sha256, bytes };
  }
  const image = { contentType, sha256, bytes: null };
  if (ctx.revalidate?.(sha256)) return image;
  const content = await file.open();
  if (!content) return undefined;
  ctx.sendFile(content, file.size);
  return image;
}

/** Pictures of any size that are read as a whole. REST streams them. */
const WHOLE_GATE = FairGate.shared({ places: 4, maxWaiting: 100, taskNoun: 'reads of uploaded pictures' });

/** Reads a picture like `readPicture`. Throws like `FairGate`. */
export const readWholePicture = (ctx: Context, file: PictureFile): Promise<PictureContents | undefined> =>
  ctx.sendFile ? readPicture(ctx, file) : WHOLE_GATE.run(ctx.viewer, ctx.request.signal, () => readPicture(ctx, file));

/** The root fields that have read a picture, by the context of their document. */
const readFields = new WeakMap<object, Set<string>>();

/** Throws BAD_USER_INPUT for the second picture of a root field in a document, because these pictures are large. */
export function checkReadOnce(ctx: Context, field: string): void {
  const fields = readFields.get(ctx) ?? new Set();
  if (fields.has(field)) throw badInput(`${field} can be requested once in a document`);
  readFields.set(ctx, fields.add(field));
}
