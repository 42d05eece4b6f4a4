import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { preparePicture } from '../../adapters/pictures/pictures.ts';
import { callerAt } from '../../core/fair-gate.ts';
import type { ImageFile } from './avatar-image.ts';
import { AVATAR_SIZE, AVATAR_TYPE } from './avatar.ts';

/** Head and shoulders on grey. */
const SOURCE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64">
  <rect width="64" height="64" fill="#d0d7de"/>
  <circle cx="32" cy="25" r="11" fill="#8c959f"/>
  <path d="M10 64c0-14 9-23 22-23s22 9 22 23z" fill="#8c959f"/>
</svg>`;

let drawing: Promise<ImageFile> | undefined;

/** Returns the avatar of users without one: the same bytes each time. Each process draws it once. */
export function defaultAvatar(): Promise<ImageFile> {
  return (drawing ??= draw().catch((error: unknown) => {
    drawing = undefined;
    throw error;
  }));
}

async function draw(): Promise<ImageFile> {
  // Other requests wait for the same picture, so it does not end with the request that comes first.
  const { signal } = new AbortController();
  const { drawn } = await preparePicture(Buffer.from(SOURCE), AVATAR_SIZE, callerAt(''), signal);
  const bytes = Buffer.from(drawn);
  return {
    contentType: AVATAR_TYPE,
    sha256: hash('sha256', bytes),
    size: bytes.length,
    read: async () => bytes,
    open: async () => Readable.from(bytes),
  };
}
