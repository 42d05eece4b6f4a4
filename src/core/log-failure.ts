import type { Logger } from 'pino';

interface FailureLine {
  err: unknown;
  requestId: string | undefined;
  path?: readonly (string | number)[] | undefined;
}

/**
 * Logs an unexpected exception of a request with its stack. After the client has disconnected it is most likely a
 * consequence of that, and not an error of the service: the line then has the message without the stack.
 */
export function logFailure(
  log: Pick<Logger, 'info' | 'error'>,
  line: FailureLine,
  message: string,
  hasClientLeft: boolean,
): void {
  if (!hasClientLeft) return log.error(line, message);
  const { err, ...rest } = line;
  const reason = err instanceof Error ? err.message : String(err);
  log.info({ ...rest, reason }, 'The client disconnected during a request');
}
