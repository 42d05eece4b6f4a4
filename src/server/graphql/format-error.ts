import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { toApiError } from '../../core/api-error.ts';
import { graphqlLimit } from '../../core/errors.ts';
import { MAX_TOKENS } from '../../core/limits/limits.ts';

/** An error in GraphQL's words: the same message as in REST, with `extensions: {code, status, validation?}` (contract 4). */
export function formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const { message, locations, path } = formatted;
  const fault = toApiError(error) ?? toLimitError(message);
  if (fault)
    return {
      message: fault.message,
      locations,
      path,
      extensions: { code: fault.code, status: fault.status, ...(fault.validation && { validation: fault.validation }) },
    };
  // Clients of persisted queries know these by their code.
  if (String(formatted.extensions?.code).startsWith('PERSISTED_QUERY'))
    return { message, extensions: { code: formatted.extensions!.code, status: 400 } };
  if (isClientError(formatted, error))
    return { message, locations, path, extensions: { code: 'BAD_USER_INPUT', status: 400 } };
  return {
    message: 'Something went wrong on our side',
    locations,
    path,
    extensions: { code: 'INTERNAL', status: 500 },
  };
}

const CLIENT_CODES = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'BAD_REQUEST',
  'OPERATION_RESOLUTION_FAILURE',
]);

/** graphql-js' own complaints about a document or its variables have no original error; ours have. */
const isClientError = (formatted: GraphQLFormattedError, error: unknown): boolean =>
  CLIENT_CODES.has(String(formatted.extensions?.code)) || (error instanceof GraphQLError && !error.originalError);

/** Apollo's parser counts tokens as well, but calls the document malformed; values nested by the thousand exhaust its stack. */
function toLimitError(message: string) {
  if (message.includes(`${MAX_TOKENS} tokens`)) return graphqlLimit(`The document has more than ${MAX_TOKENS} tokens`);
  return message === 'Maximum call stack size exceeded' ? graphqlLimit('The document nests too deeply') : undefined;
}
