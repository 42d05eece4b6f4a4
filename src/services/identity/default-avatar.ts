import { preparePicture } from '../../adapters/pictures/pictures.ts';
import { callerAt } from '../../core/fair-gate.ts';
import { pictureOf, type PictureFile } from '../resource/picture-file.ts';
import { AVATAR_DRAWING, AVATAR_TYPE } from './avatar.ts';

/** Head and shoulders on grey. */
const SOURCE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64">
  <rect width="64" height="64" fill="#d0d7de"/>
  <circle cx="32" cy="25" r="11" fill="#8c959f"/>
  <path d="M10 64c0-14 9-23 22-23s22 9 22 23z" fill="#8c959f"/>
</svg>`;

let drawing: Promise<PictureFile> | undefined;

/** Returns the avatar of users without one: the same bytes each time. Each process draws it once. */
export function defaultAvatar(): Promise<PictureFile> {
  return (drawing ??= draw().catch((error: unknown) => {
    drawing = undefined;
    throw error;
  }));
}

async function draw(): Promise<PictureFile> {
  // Other requests wait for the same picture, so it does not end with the first request.
  const { signal } = new AbortController();
  const { drawn } = await preparePicture(Buffer.from(SOURCE), AVATAR_DRAWING, callerAt(''), signal);
  return pictureOf(AVATAR_TYPE, drawn.avatar);
}
