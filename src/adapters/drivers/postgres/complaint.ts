import pg from 'pg';
import { badInput, ApiError } from '../../../core/errors.ts';
import { connectionLost, queryTimeout, serverTrouble } from '../server-complaint.ts';
import { redact, type ServerTarget } from '../server-config.ts';

/** SQLSTATEs that speak of the source's state (lost, full, shut down, broken, busy), not of the text it was sent. */
const SOURCE_TROUBLE = /^(08|25P0[34]|40|53|57|58|F0|XX)/;
const QUERY_CANCELED = '57014';

/**
 * A failure while a statement was parsed or run. The source's complaint about the text is `badInput` with its message and hint;
 * all else (timeout, lost connection, a source in trouble) is `upstreamFailed`.
 */
export function statementFailure(error: unknown, target: ServerTarget, timeout: number): ApiError {
  if (error instanceof ApiError) return error;
  if (!(error instanceof pg.DatabaseError) || !error.code) return connectionLost(error, 'postgres', target);
  if (error.code === QUERY_CANCELED) return queryTimeout(timeout);
  const said = error.message + (error.hint ? `. Hint: ${error.hint}` : '');
  return SOURCE_TROUBLE.test(error.code) ? serverTrouble(said, 'postgres', target) : badInput(redact(target, said));
}

/** Adds the line to a complaint about a user's text of several lines. */
export function withLine(error: unknown, text: string): unknown {
  if (!(error instanceof pg.DatabaseError) || !error.position || !text.includes('\n')) return error;
  const before = text.slice(0, Number(error.position) - 1);
  error.message += ` (line ${before.split('\n').length})`;
  return error;
}
