import { ApiError, diskFull, unavailable } from './errors.ts';

/** Codes of Node and the SQLSTATE of Postgres. An exhausted quota is a full disk, too. */
const CODES = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** DuckDB has no codes. Its last message is about temporary files, which may use 90 % of the free space. */
const MESSAGES = /No space left on device|Disk quota exceeded|failed to offload data block/;

/** Postgres reports exhausted shared memory, as in a container with little of it, like a full disk. */
const NO_DISK = /shared memory/;

/** Returns whether an error means that a disk of the service is full. Errors of sources must not be passed to it. */
export function isDiskFull(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof ApiError || NO_DISK.test(error.message)) return false;
  return CODES.has(String((error as { code?: unknown }).code)) || MESSAGES.test(error.message);
}

/**
 * Returns the error for a failed write of the service to its own disk. The message contains no path, and a source whose
 * rows were written is not blamed.
 */
export const writeFailure = (error: unknown): ApiError =>
  isDiskFull(error)
    ? diskFull(undefined, { cause: error })
    : unavailable('The service could not write its files', { cause: error });

/** Waits for a write of the service to its own disk. Rejects with `writeFailure`. */
export const written = <T>(writing: Promise<T>): Promise<T> =>
  writing.catch((error: unknown) => {
    throw writeFailure(error);
  });
