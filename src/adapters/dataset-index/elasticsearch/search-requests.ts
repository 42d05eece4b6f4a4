import type { estypes } from '@elastic/elasticsearch';
import { errors } from '@elastic/elasticsearch';
import type { Generation } from '../../../core/dataset-index.ts';
import { badInput } from '../../../core/errors.ts';
import type { SearchEngineReader } from './client.ts';

type Asked = Omit<estypes.SearchRequest, 'index' | 'allow_partial_search_results'>;
export type SearchResponse = estypes.SearchResponse<Record<string, unknown>, Record<string, unknown>>;

/**
 * Searches documents of a generation. A partial response is an error.
 *
 * Throws BAD_USER_INPUT for a query that exceeds the engine's memory.
 */
export const searchDocuments = (
  engine: SearchEngineReader,
  { id }: Generation,
  asked: Asked,
  signal: AbortSignal,
): Promise<SearchResponse> =>
  engine[hasExpression(asked.query) ? 'askExpressions' : 'ask'](async (client, options) => {
    try {
      return await client.search<Record<string, unknown>, Record<string, unknown>>(
        { ...asked, index: engine.indexName(id), allow_partial_search_results: false },
        options,
      );
    } catch (error) {
      throw rejectionError(error) ?? error;
    }
  }, signal);

/** Returns the error for a rejection that cannot be predicted, because it depends on the engine's memory. */
function rejectionError(error: unknown): Error | undefined {
  const reason = error instanceof errors.ResponseError ? JSON.stringify(error.body) : '';
  if (reason.includes('Determinizing automaton')) return badInput('$regex is too complex for the dataset index');
  return /too many (nested )?clauses/i.test(reason)
    ? badInput('The filter and q have too many parts together for the dataset index')
    : undefined;
}

/** Returns whether a query contains a regular expression. */
const hasExpression = (query: unknown): boolean =>
  typeof query === 'object' &&
  query !== null &&
  Object.entries(query).some(([key, value]) => key === 'regexp' || hasExpression(value));
