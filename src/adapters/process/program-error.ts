import { isDiskFull } from '../../core/disk-full.ts';
import { ApiError, diskFull } from '../../core/errors.ts';

/** Returns the client's error for an error of a child program; undefined for an unexpected one. */
export const clientErrorOf = (error: unknown): ApiError | undefined => {
  if (isDiskFull(error)) return diskFull();
  return error instanceof ApiError ? error : undefined;
};

/** Returns the text of an unexpected error of a child program or thread, for the log of its parent. */
export const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
