import { ApiError, upstreamFailed } from '../../core/errors.ts';
import { addressOf, redact, type ServerTarget } from './server-config.ts';

const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** What went wrong while connecting: the server's or the network's words, with the address and never the password. `kind` is the driver's id. */
export function connectFailure(error: unknown, kind: string, target: ServerTarget): ApiError {
  if (error instanceof ApiError) return error;
  // Node reports a name with several addresses as an AggregateError, whose own message is empty.
  const said = wordsOf(error instanceof AggregateError ? error.errors[0] : error);
  const silent = said === 'timeout expired' || said === 'connect ETIMEDOUT';
  return upstreamFailed(
    `Cannot connect to ${kind} at ${addressOf(target)}: ${redact(target, silent ? 'no answer within 10 s' : said)}`,
  );
}

/** The connection broke while something was asked. */
export const connectionLost = (error: unknown, kind: string, target: ServerTarget): ApiError =>
  upstreamFailed(`The connection to ${kind} at ${addressOf(target)} was lost: ${redact(target, wordsOf(error))}`);

/** The server's words about a state of its own (full, shut down, broken, busy), not about the text it was sent. */
export const serverTrouble = (said: string, kind: string, target: ServerTarget): ApiError =>
  upstreamFailed(`${kind} at ${addressOf(target)}: ${redact(target, said)}`);

/** The specification's sample error. */
export const queryTimeout = (timeout: number) => upstreamFailed(`query timeout after ${timeout} ms`);
