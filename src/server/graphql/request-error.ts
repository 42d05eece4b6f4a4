import { HeaderMap, type HTTPGraphQLHead } from '@apollo/server';
import { GraphQLError } from 'graphql';
import { toApiError } from '../../core/api-error.ts';

/**
 * Converts the error of a request that is refused before its document runs. Apollo responds with the status and headers
 * of the `ApiError`.
 */
export function toRequestError(error: unknown): GraphQLError {
  const apiError = toApiError(error);
  const head: HTTPGraphQLHead = {
    status: apiError?.status ?? 500,
    headers: new HeaderMap(Object.entries(apiError?.headers ?? {})),
  };
  // Another package declares `extensions.http` as a plain object; Apollo expects its own type.
  return new GraphQLError(apiError?.message ?? 'Internal error', {
    originalError: error as Error,
    extensions: { http: head as object },
  });
}
