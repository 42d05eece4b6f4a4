import { subscribe as subscribeToSchema, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql';

/**
 * Returns the presented values of a subscription. This is not an async generator, because `return()` of a generator
 * waits for the pending value: a client that disconnects must end the source immediately.
 */
function presentEach(
  source: AsyncGenerator<ExecutionResult, void, void>,
  present: (result: ExecutionResult) => unknown,
): AsyncIterableIterator<unknown> {
  const presentResult = ({ done, value }: IteratorResult<ExecutionResult, void>): IteratorResult<unknown> =>
    done === true ? { done, value: undefined } : { done: false, value: present(value) };
  return {
    next: () => source.next().then(presentResult),
    return: () => source.return().then(presentResult),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Subscribes to a document. `toError` creates the error of a request that GraphQL rejects, e.g. for its variables. */
export async function subscribeToDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  contextValue: object,
  variableValues: Record<string, unknown>,
  present: (result: ExecutionResult) => unknown,
  toError: (message: string) => Error,
): Promise<AsyncIterableIterator<unknown>> {
  const source = await subscribeToSchema({ schema, document, contextValue, variableValues });
  if (Symbol.asyncIterator in source) return presentEach(source, present);
  const error = source.errors![0]!;
  throw error.path ? error : toError(error.message);
}
