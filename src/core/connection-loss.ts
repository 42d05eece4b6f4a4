const NETWORK_CODES = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Class 08, and 57P01 to 57P03: shutdown, crash, cannot connect now. */
const SQL_STATES = /^(08|57P0[1-3])/;
/** Statements have this one, too, e.g. for a wrong number of parameters. It ends the connection where it is fatal. */
const PROTOCOL_VIOLATION = '08P01';

/** Messages of pg and Postgres without a code. */
const MESSAGES = new RegExp(
  [
    'Connection terminated',
    'timeout exceeded when trying to connect',
    'Query read timeout',
    'Client has encountered a connection error',
    'Client was closed',
    'the database system is',
  ].join('|'),
);

/**
 * Returns whether a connection failed or was lost: its server is restarting, shut down or unreachable, as opposed to
 * the error of a statement. Pass only errors of a known connection: a network error does not name its host.
 */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code: given, severity } = error as { code?: unknown; severity?: unknown };
  const code = String(given ?? '');
  if (code === PROTOCOL_VIOLATION) return severity !== 'ERROR';
  return NETWORK_CODES.has(code) || SQL_STATES.test(code) || MESSAGES.test(error.message);
}
