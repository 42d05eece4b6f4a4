import type { Logger } from 'pino';

interface FailureLine {
  err: unknown;
  requestId: string | undefined;
  path?: readonly (string | number)[] | undefined;
}

/**
 * Logs an unexpected exception of a request with its stack. After the client has disconnected it is most likely a
 * consequence, and no error of the service.
 */
export function logFailure(
  log: Pick<Logger, 'info' | 'error'>,
  line: FailureLine,
  message: string,
  hasClientLeft: boolean,
): void {
  if (hasClientLeft) log.info(line, 'The client disconnected during a request');
  else log.error(line, message);
}
