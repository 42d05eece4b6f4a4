import type { Drawing, PictureSource, PreparedPicture } from '../../core/pictures.ts';

/** `prepare`: load what every task needs, before a task is known. */
export type ToPictureProcess =
  | { kind: 'prepare' }
  | { kind: 'draw'; source: PictureSource; drawings: Readonly<Record<string, Drawing>> };

/** Message to clients of a picture that needs more memory than its process may have. */
export const MEMORY_MESSAGE = 'The picture needs too much memory';

export type FromPictureProcess =
  | { kind: 'result'; picture: PreparedPicture<string> }
  /** BAD_USER_INPUT or PAYLOAD_TOO_LARGE for the client. */
  | { kind: 'refused'; message: string; isTooLarge: boolean }
  /** An unexpected error. */
  | { kind: 'broken'; message: string };
