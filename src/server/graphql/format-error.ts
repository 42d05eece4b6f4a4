import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { toApiError } from '../../core/api-error.ts';
import type { PublicContext } from '../../core/context.ts';
import { graphqlLimit } from '../../core/errors.ts';
import { MAX_TOKENS, tooManyTokens } from '../../core/limits/limits.ts';
import { logFailure } from '../../core/log-failure.ts';
import { shortenMessage } from '../../core/shorten-message.ts';

/**
 * Formats an error for GraphQL: the message of REST, and `extensions: {code, status, validation?}`. See
 * docs/contract/apis.md#errors.
 */
export function formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const { message, locations, path } = formatted;
  const apiError = toApiError(error) ?? toLimitError(message);
  if (apiError)
    return {
      message: apiError.message,
      locations,
      path,
      extensions: {
        code: apiError.code,
        status: apiError.status,
        ...(apiError.validation && { validation: apiError.validation }),
      },
    };
  // Clients of persisted queries rely on these codes.
  if (String(formatted.extensions?.code).startsWith('PERSISTED_QUERY'))
    return { message, extensions: { code: formatted.extensions!.code, status: 400 } };
  if (isClientError(formatted, error))
    return {
      message: shortenMessage(message),
      locations,
      path,
      extensions: { code: 'BAD_USER_INPUT', status: 400 },
    };
  return {
    message: 'Something went wrong on our side',
    locations,
    path,
    extensions: { code: 'INTERNAL', status: 500 },
  };
}

/** Returns whether clients receive only a general message of this error, so that it must be logged. */
export const isUnexpected = (error: GraphQLError): boolean =>
  formatError(error.toJSON(), error).extensions?.code === 'INTERNAL';

const TOO_DEEP = new Set(['Maximum call stack size exceeded', 'Maximum introspection depth exceeded']);

const CLIENT_CODES = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'BAD_REQUEST',
  'OPERATION_RESOLUTION_FAILURE',
]);

/**
 * Returns whether graphql-js or Apollo refused the document or its variables. Such errors of graphql-js have no
 * original error.
 */
const isClientError = (formatted: GraphQLFormattedError, error: unknown): boolean =>
  CLIENT_CODES.has(String(formatted.extensions?.code)) || (error instanceof GraphQLError && !error.originalError);

/** Converts errors of Apollo and graphql-js that mean a limit: too many tokens, and documents that nest too deeply. */
function toLimitError(message: string) {
  if (message.includes(`${MAX_TOKENS} tokens`)) return tooManyTokens();
  return TOO_DEEP.has(message) ? graphqlLimit('The document is nested too deeply') : undefined;
}

/** Logs unexpected errors. Clients receive only a general message. */
export function logUnexpectedErrors(errors: readonly GraphQLError[], { platform, request }: PublicContext): void {
  for (const error of errors)
    if (isUnexpected(error))
      logFailure(
        platform.log,
        { err: error.originalError, path: error.path, requestId: request.id },
        'Resolver failed',
        request.signal.aborted,
      );
}

/** Returns errors as clients receive them. Logs the unexpected ones. */
export function presentErrors(errors: readonly GraphQLError[], context: PublicContext): GraphQLFormattedError[] {
  logUnexpectedErrors(errors, context);
  return errors.map((error) => formatError(error.toJSON(), error));
}
