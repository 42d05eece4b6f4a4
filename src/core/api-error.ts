import type { GraphQLError } from 'graphql';
import { isDiskFull } from './disk-full.ts';
import { badInput, ApiError, diskFull, tooLarge, unavailable, type ErrorCode } from './errors.ts';

/** A longer JSON body is refused with 413. See docs/contract/apis.md#shapes. */
export const MAX_JSON_BODY_BYTES = 10 * 1024 * 1024;

/** The codes of errors that only have a status. */
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

/** Returns the error of a body that is not JSON, which names the type in `Accept`. */
export const notJson = (): ApiError =>
  new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json', {
    headers: { accept: 'application/json' },
  });

const JSON_BODY_TOO_LARGE =
  `A JSON body has at most ${MAX_JSON_BODY_BYTES} bytes; ` +
  'send files as forms or bytes to the routes that take files';

/** Limits how many causes are followed, because a cause may refer to itself. */
const MAX_CAUSES = 6;

/**
 * Returns the `ApiError` that the client may see for a thrown value: the value itself, the error that GraphQL wrapped,
 * 503 for a full disk, or Fastify's error for an invalid request. Returns undefined for an unexpected exception.
 */
export function toApiError(error: unknown): ApiError | undefined {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++) {
    const apiError =
      cause instanceof ApiError
        ? cause
        : (fromDisk(cause) ?? fromDatabase(cause) ?? fromGraphql(cause) ?? fromFastify(cause));
    if (apiError) return apiError;
    cause = isGraphqlError(cause) ? cause.originalError : cause.cause;
  }
  return undefined;
}

/** Recognizes it by its properties, so that child processes, which use this module too, do not load graphql-js. */
const isGraphqlError = (error: Error): error is GraphQLError => 'originalError' in error && 'extensions' in error;

/** Converts errors of a full disk, whose messages contain paths of the server. */
const fromDisk = (error: Error): ApiError | undefined =>
  isDiskFull(error) ? diskFull(undefined, { cause: error }) : undefined;

/** Converts errors of Postgres that the service's own checks cannot prevent. */
function fromDatabase(error: Error): ApiError | undefined {
  const { code } = error as { code?: unknown };
  if (code === '22021' || code === '22P05') return badInput('Text must not contain the character U+0000');
  // JSON.stringify escapes a lone surrogate; Postgres refuses it. Otherwise the JSON of the service is well-formed.
  if (code === '22P02' && error.message.startsWith('invalid input syntax for type json'))
    return badInput('Text must be well-formed Unicode');
  if (code === '57014' || code === '55P03' || code === '40P01')
    return unavailable('The database was too busy to respond in time', {
      cause: error,
      headers: { 'retry-after': '2' },
    });
  return undefined;
}

/**
 * Converts errors for values that do not fit their types. graphql-js throws them before a resolver runs; only their
 * messages identify them.
 */
function fromGraphql(error: Error): ApiError | undefined {
  if (!isGraphqlError(error) || error.originalError instanceof ApiError) return undefined;
  const isInvalidValue =
    error.extensions?.['code'] === 'BAD_USER_INPUT' ||
    (/^(Argument|Variable) "/.test(error.message) && (!error.originalError || !error.path));
  return isInvalidValue ? badInput(error.message) : undefined;
}

/** Converts errors of Fastify with a 4xx status. */
function fromFastify(error: Error): ApiError | undefined {
  const { code, statusCode, message } = error as { code?: unknown; statusCode?: unknown; message: string };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge(JSON_BODY_TOO_LARGE);
  // The service has parsers of its own for all other media types.
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return notJson();
  if (typeof statusCode !== 'number' || statusCode < 400 || statusCode >= 500) return undefined;
  return new ApiError(statusCode, CODES_BY_STATUS[statusCode] ?? 'BAD_USER_INPUT', message || 'Bad request');
}
