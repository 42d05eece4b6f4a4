import pg from 'pg';
import { badInput, ApiError } from '../../../core/errors.ts';
import { redact, type ServerTarget } from '../server-config.ts';
import { connectionLost, queryTimeout, serverTrouble } from '../server-error.ts';

/** SQLSTATEs about the source's state (lost, full, shut down, broken, busy), not about the statement. */
const SOURCE_TROUBLE = /^(08|25P0[34]|40|53|57|58|F0|XX)/;
const QUERY_CANCELED = '57014';

/**
 * Returns the error for a failure while a statement was parsed or run. The source's error about the text is
 * BAD_USER_INPUT with its message and hint; all others (timeout, lost connection, a source in trouble) are
 * UPSTREAM_FAILED.
 */
export function statementFailure(error: unknown, target: ServerTarget, timeout: number): ApiError {
  if (error instanceof ApiError) return error;
  if (!(error instanceof pg.DatabaseError) || !error.code) return connectionLost(error, 'postgres', target);
  if (error.code === QUERY_CANCELED) return queryTimeout(timeout);
  const text = error.message + (error.hint ? `. Hint: ${error.hint}` : '');
  return SOURCE_TROUBLE.test(error.code) ? serverTrouble(text, 'postgres', target) : badInput(redact(target, text));
}

/** Adds the line to an error about a user's text of several lines. */
export function withLine(error: unknown, text: string): unknown {
  if (!(error instanceof pg.DatabaseError) || !error.position || !text.includes('\n')) return error;
  const before = text.slice(0, Number(error.position) - 1);
  error.message += ` (line ${before.split('\n').length})`;
  return error;
}
