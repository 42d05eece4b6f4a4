import type { PictureShape, PictureSource, PreparedPicture } from '../../core/pictures.ts';

/** `prepare`: load what every task needs, before a task is known. */
export type ToPictureProcess = { kind: 'prepare' } | { kind: 'draw'; source: PictureSource; shapes: PictureShape[] };

export type FromPictureProcess =
  | { kind: 'result'; picture: PreparedPicture }
  /** BAD_USER_INPUT or PAYLOAD_TOO_LARGE for the client. */
  | { kind: 'refused'; message: string; isTooLarge: boolean }
  /** An unexpected error. */
  | { kind: 'broken'; message: string };
