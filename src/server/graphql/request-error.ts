import { HeaderMap, type HTTPGraphQLHead } from '@apollo/server';
import { GraphQLError } from 'graphql';
import { toApiError } from '../../core/api-error.ts';

/** The error of a request that is refused before anything of it runs: Apollo answers it with the status and headers of its fault. */
export function toRequestError(error: unknown): GraphQLError {
  const fault = toApiError(error);
  const head: HTTPGraphQLHead = {
    status: fault?.status ?? 500,
    headers: new HeaderMap(Object.entries(fault?.headers ?? {})),
  };
  // Another package among ours declares `extensions.http` to be a plain object; Apollo wants its own.
  return new GraphQLError(fault?.message ?? 'Internal error', {
    originalError: error as Error,
    extensions: { http: head as object },
  });
}
