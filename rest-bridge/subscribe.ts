import { subscribe as subscribeToSchema, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql';

/**
 * The values of a subscription, each presented. Written by hand because a generator that waits for the next value cannot be ended from outside:
 * a client that hangs up must end the source at once.
 */
function presentEach(
  source: AsyncGenerator<ExecutionResult, void, void>,
  present: (result: ExecutionResult) => unknown,
): AsyncIterableIterator<unknown> {
  const through = ({ done, value }: IteratorResult<ExecutionResult, void>): IteratorResult<unknown> =>
    done === true ? { done, value: undefined } : { done: false, value: present(value) };
  return {
    next: () => source.next().then(through),
    return: () => source.return().then(through),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Subscribes; `refused` makes the error of a request that GraphQL does not take. */
export async function subscribeToDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  contextValue: object,
  variableValues: Record<string, unknown>,
  present: (result: ExecutionResult) => unknown,
  refused: (message: string) => Error,
): Promise<AsyncIterableIterator<unknown>> {
  const source = await subscribeToSchema({ schema, document, contextValue, variableValues });
  if (Symbol.asyncIterator in source) return presentEach(source, present);
  const error = source.errors![0]!;
  throw error.path ? error : refused(error.message);
}
