import { GraphQLError } from 'graphql';
import { isConnectionLoss } from './connection-loss.ts';
import { badInput, ApiError, unavailable, type ErrorCode } from './errors.ts';

/** The code that goes with a status when nothing more is known. */
const CODES_BY_STATUS: Partial<Record<number, ErrorCode>> = {
  400: 'BAD_USER_INPUT',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  406: 'NOT_ACCEPTABLE',
  409: 'CONFLICT',
  410: 'GONE',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'RATE_LIMITED',
};

/** Causes are followed this far, so that a cause which names itself ends too. */
const MAX_CAUSES = 6;

/**
 * The fault behind whatever was thrown, if the client may see one: itself, what GraphQL wrapped, a database that is away (503 wherever it shows),
 * or what fastify found wrong with the request. Undefined for exceptions that are ours.
 */
export function toApiError(error: unknown): ApiError | undefined {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++) {
    const fault = cause instanceof ApiError ? cause : (fromDatabase(cause) ?? fromGraphql(cause) ?? fromFastify(cause));
    if (fault) return fault;
    cause = cause instanceof GraphQLError ? cause.originalError : cause.cause;
  }
  return undefined;
}

/** What Postgres complains of that no check of ours can rule out. */
function fromDatabase(error: Error): ApiError | undefined {
  if (isConnectionLoss(error)) return unavailable('The database does not answer', { headers: { 'retry-after': '2' } });
  const { code } = error as { code?: unknown };
  if (code === '22021' || code === '22P05') return badInput('A text must not hold the character U+0000');
  // Our JSON is always well-formed but for a lone surrogate within a text, which JSON.stringify escapes and Postgres refuses.
  if (code === '22P02' && error.message.startsWith('invalid input syntax for type json'))
    return badInput('A text must be well-formed Unicode');
  if (code === '57014' || code === '55P03' || code === '40P01')
    return unavailable('The database was too busy to answer in time', {
      cause: error,
      headers: { 'retry-after': '2' },
    });
  return undefined;
}

/** Values that do not fit their types: graphql-js says so before a resolver runs, by its words alone. */
function fromGraphql(error: Error): ApiError | undefined {
  if (!(error instanceof GraphQLError) || error.originalError instanceof ApiError) return undefined;
  const refused =
    error.extensions?.['code'] === 'BAD_USER_INPUT' ||
    (/^(Argument|Variable) "/.test(error.message) && (!error.originalError || !error.path));
  return refused ? badInput(error.message) : undefined;
}

function fromFastify(error: Error): ApiError | undefined {
  const { statusCode, message } = error as { statusCode?: unknown; message: string };
  if (typeof statusCode !== 'number' || statusCode < 400 || statusCode >= 500) return undefined;
  return new ApiError(statusCode, CODES_BY_STATUS[statusCode] ?? 'BAD_USER_INPUT', message || 'Bad request');
}
