import { ApiError, upstreamFailed } from '../../core/errors.ts';
import { addressOf, redact, type ServerTarget } from './server-config.ts';

const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/**
 * Returns the error of a failed connection: the message of server or network with the address, never the password.
 * `kind` is the driver's id.
 */
export function connectFailure(error: unknown, kind: string, target: ServerTarget): ApiError {
  if (error instanceof ApiError) return error;
  // Node reports a name with several addresses as an AggregateError, whose own message is empty.
  const message = wordsOf(error instanceof AggregateError ? error.errors[0] : error);
  const silent = message === 'timeout expired' || message === 'connect ETIMEDOUT';
  return upstreamFailed(
    `Cannot connect to ${kind} at ${addressOf(target)}: ${redact(target, silent ? 'no response within 10 s' : message)}`,
  );
}

/** Returns the error of a connection that was lost during a request. */
export const connectionLost = (error: unknown, kind: string, target: ServerTarget): ApiError =>
  upstreamFailed(`The connection to ${kind} at ${addressOf(target)} was lost: ${redact(target, wordsOf(error))}`);

/** Returns the error for the server's message about its own state (full, shut down, broken, busy). */
export const serverTrouble = (message: string, kind: string, target: ServerTarget): ApiError =>
  upstreamFailed(`${kind} at ${addressOf(target)}: ${redact(target, message)}`);

/** Returns the error of a query that exceeded its time. */
export const queryTimeout = (timeout: number) => upstreamFailed(`query timeout after ${timeout} ms`);
