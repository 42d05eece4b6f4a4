import { badInput, ApiError } from '../../../core/errors.ts';
import { connectionLost, queryTimeout, serverTrouble } from '../server-complaint.ts';
import { redact, type ServerTarget } from '../server-config.ts';

/** What a server answers instead of what it was asked for. */
interface ServerError extends Error {
  errno: number;
  sqlState: string;
}

/** Numbers of the complaint that a statement's time was up: MySQL's own, MariaDB's, and the one of a statement that somebody stopped. */
const OUT_OF_TIME = new Set([3024, 1969, 1317]);

/** Numbers that speak of the server's state (lost, full, shut down, broken, busy), not of the text it was sent. Their SQLSTATE is mostly the same HY000 as for the rest. */
const SOURCE_TROUBLE = new Set([
  1016, 1021, 1023, 1026, 1030, 1033, 1034, 1037, 1038, 1040, 1041, 1053, 1077, 1079, 1105, 1114, 1129, 1135, 1152,
  1154, 1158, 1159, 1160, 1161, 1180, 1194, 1195, 1203, 1205, 1206, 1213, 1226, 1290, 1412, 1461, 1927, 3168, 3169,
]);

export const isServerError = (error: unknown): error is ServerError =>
  error instanceof Error &&
  typeof (error as ServerError).errno === 'number' &&
  typeof (error as ServerError).sqlState === 'string';

/**
 * A failure while a statement was prepared or run. The source's complaint about the text is `badInput` with its message; all else (timeout, lost connection,
 * a source in trouble) is `upstreamFailed`.
 */
export function statementFailure(error: unknown, target: ServerTarget, timeout: number): ApiError {
  if (error instanceof ApiError) return error;
  if (!isServerError(error)) return connectionLost(error, 'mysql', target);
  if (OUT_OF_TIME.has(error.errno)) return queryTimeout(timeout);
  return SOURCE_TROUBLE.has(error.errno)
    ? serverTrouble(error.message, 'mysql', target)
    : badInput(redact(target, error.message));
}
