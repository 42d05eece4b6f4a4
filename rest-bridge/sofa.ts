import { GraphQLObjectType, GraphQLScalarType, GraphQLSchema, type DocumentNode, type ExecutionArgs } from 'graphql';
import { useSofa } from 'sofa-api';
import type { Endpoint } from './bridge.ts';
import type { Call } from './call.ts';
import { RowError } from './document.ts';
import { errorResponse } from './error-response.ts';

/** Lets sofa-api answer one request to a plain row. What the row throws is thrown again. */
export type RunPlainRow = (endpoint: Endpoint, call: Call) => Promise<{ status: number; text: string }>;

/** What travels through sofa-api with one request. The row is ours to choose: fastify has routed already. */
interface SofaContext {
  endpoint: Endpoint;
  call: Call;
  outcome: { failure?: unknown };
}
type SofaConfig = Parameters<typeof useSofa>[0];

/** sofa-api would select everything below a field by itself; the row's own document selects, so for sofa each answer is one leaf. */
const PlainJson = new GraphQLScalarType({
  name: 'PlainJson',
  description: 'The answer of a plain row, selected by the row.',
});

const rootField = (document: DocumentNode): string => {
  const definition = document.definitions[0];
  const node = definition?.kind === 'OperationDefinition' ? definition.selectionSet.selections[0] : undefined;
  return node?.kind === 'Field' ? node.name.value : '';
};

/**
 * sofa-api over the plain rows: a schema with one field for each of them, `execute` overridden to run the compiled row, our error handler.
 * Requests reach it row by row, so that what it mounts besides (its `/webhook` calls whatever address a stranger names) has no way in.
 */
export function createSofaRunner(endpoints: readonly Endpoint[]): RunPlainRow {
  const plain = new Map(endpoints.filter(({ row }) => row.plain).map((endpoint, index) => [`row${index}`, endpoint]));
  if (plain.size === 0) return () => Promise.reject(new Error('There is no plain row'));
  const trap = [...plain.values()].find(({ row }) => /^\/webhook(?:\/|$)/.test(row.path));
  if (trap) throw new RowError(trap.row, 'sofa-api keeps /webhook for itself, a plain row cannot be there');
  const fields = Object.fromEntries([...plain.keys()].map((name) => [name, { type: PlainJson }]));
  const execute = async ({ document, contextValue }: ExecutionArgs) => {
    const carried = contextValue as SofaContext;
    try {
      return { data: { [rootField(document)]: (await carried.endpoint.run(carried.call)).body } };
    } catch (error) {
      // sofa-api copies the context; what it holds by reference stays ours.
      carried.outcome.failure = error;
      throw error;
    }
  };
  const router = useSofa({
    basePath: '/api',
    schema: new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) }),
    routes: Object.fromEntries(
      [...plain].map(([name, { row }]) => [
        `Query.${name}`,
        { method: row.method, path: row.path, responseStatus: (row.options.status ?? 200) as 200 },
      ]),
    ),
    context: (carried) => carried,
    execute: execute as NonNullable<SofaConfig['execute']>,
    errorHandler: ([error]) => {
      const { status, body } = errorResponse(error, '');
      return Response.json(body, { status }) as ReturnType<NonNullable<SofaConfig['errorHandler']>>;
    },
  });
  return async (endpoint, call) => {
    const carried: SofaContext = { endpoint, call, outcome: {} };
    const response = await router.fetch(`http://sofa${call.url}`, { method: endpoint.row.method }, carried);
    if ('failure' in carried.outcome) throw carried.outcome.failure;
    return { status: response.status, text: await response.text() };
  };
}
