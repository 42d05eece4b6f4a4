import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { PublicContext } from '../../core/context.ts';

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
