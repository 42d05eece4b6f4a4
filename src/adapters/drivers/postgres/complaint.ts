import pg from 'pg';
import { badInput, Fault, upstreamFailed } from '../../../core/errors.ts';
import { addressOf, redact, type PostgresTarget } from './postgres-config.ts';

/** SQLSTATEs that speak of the source's state (lost, full, shut down, broken, busy), not of the text it was sent. */
const SOURCE_TROUBLE = /^(08|25P0[34]|40|53|57|58|F0|XX)/;
const QUERY_CANCELED = '57014';

/** What went wrong while connecting: the source's or the network's words, with the address and never the password. */
export function connectFailure(error: unknown, target: PostgresTarget): Fault {
  if (error instanceof Fault) return error;
  // Node reports a name with several addresses as an AggregateError, whose own message is empty.
  const cause = error instanceof AggregateError ? error.errors[0] : error;
  const said = cause instanceof Error ? cause.message : String(cause);
  return upstreamFailed(`Cannot connect to postgres at ${addressOf(target)}: ${redact(target, said === 'timeout expired' ? 'no answer within 10 s' : said)}`);
}

/**
 * A failure while a statement was parsed or run. The source's complaint about the text is `badInput` with its message and hint;
 * all else (timeout, lost connection, a source in trouble) is `upstreamFailed`.
 */
export function statementFailure(error: unknown, target: PostgresTarget, timeout: number): Fault {
  if (error instanceof Fault) return error;
  if (!(error instanceof pg.DatabaseError) || !error.code) {
    const said = error instanceof Error ? error.message : String(error);
    return upstreamFailed(`The connection to postgres at ${addressOf(target)} was lost: ${redact(target, said)}`);
  }
  if (error.code === QUERY_CANCELED) return queryTimeout(timeout);
  const said = redact(target, error.message + (error.hint ? `. Hint: ${error.hint}` : ''));
  return SOURCE_TROUBLE.test(error.code) ? upstreamFailed(`postgres at ${addressOf(target)}: ${said}`) : badInput(said);
}

/** The specification's sample error. */
export const queryTimeout = (timeout: number) => upstreamFailed(`query timeout after ${timeout} ms`);

/** Adds the line to a complaint about a user's text of several lines. */
export function withLine(error: unknown, text: string): unknown {
  if (!(error instanceof pg.DatabaseError) || !error.position || !text.includes('\n')) return error;
  const before = text.slice(0, Number(error.position) - 1);
  error.message += ` (line ${before.split('\n').length})`;
  return error;
}
