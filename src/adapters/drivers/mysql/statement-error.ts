import { badInput, ApiError } from '../../../core/errors.ts';
import { redact, type ServerTarget } from '../server-config.ts';
import { connectionLost, queryTimeout, serverTrouble } from '../server-error.ts';

/** An error response of the server. */
interface ServerError extends Error {
  errno: number;
  sqlState: string;
}

/** Error numbers of exceeded time: MySQL's, MariaDB's, and the number of a killed statement. */
const OUT_OF_TIME = new Set([3024, 1969, 1317]);

/**
 * Error numbers about the server's state (lost, full, shut down, broken, busy), not about the statement. Their
 * SQLSTATE is mostly HY000, as for the others.
 */
const SOURCE_TROUBLE = new Set([
  1016, 1021, 1023, 1026, 1030, 1033, 1034, 1037, 1038, 1040, 1041, 1053, 1077, 1079, 1105, 1114, 1129, 1135, 1152,
  1154, 1158, 1159, 1160, 1161, 1180, 1194, 1195, 1203, 1205, 1206, 1213, 1226, 1290, 1412, 1461, 1927, 3168, 3169,
]);

export const isServerError = (error: unknown): error is ServerError =>
  error instanceof Error &&
  typeof (error as ServerError).errno === 'number' &&
  typeof (error as ServerError).sqlState === 'string';

/**
 * Returns the error for a failure while a statement was prepared or run. The source's error about the text is
 * BAD_USER_INPUT with its message; all others (timeout, lost connection, a source in trouble) are UPSTREAM_FAILED.
 */
export function statementFailure(error: unknown, target: ServerTarget, timeout: number): ApiError {
  if (error instanceof ApiError) return error;
  if (!isServerError(error)) return connectionLost(error, 'mysql', target);
  if (OUT_OF_TIME.has(error.errno)) return queryTimeout(timeout);
  return SOURCE_TROUBLE.has(error.errno)
    ? serverTrouble(error.message, 'mysql', target)
    : badInput(redact(target, error.message));
}
