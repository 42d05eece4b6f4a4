import { GraphQLObjectType, GraphQLScalarType, GraphQLSchema, type DocumentNode, type ExecutionArgs } from 'graphql';
import { useSofa } from 'sofa-api';
import type { Endpoint } from './bridge.ts';
import type { Call } from './call.ts';
import { RowError } from './document.ts';
import { errorResponse } from './error-response.ts';

/** Runs one request to a plain row through sofa-api. Throws the errors of the row. */
export type RunPlainRow = (endpoint: Endpoint, call: Call) => Promise<{ status: number; text: string }>;

/**
 * The context of one request within sofa-api. It names the endpoint, because Fastify has routed the request already.
 */
interface SofaContext {
  endpoint: Endpoint;
  call: Call;
  /** sofa-api copies the context, so the error is stored in an object that both copies share. */
  outcome: { error?: unknown };
}
type SofaConfig = Parameters<typeof useSofa>[0];

/**
 * The type of every field that sofa-api sees. It would select all fields of an object type; the row's own document
 * selects.
 */
const PlainJson = new GraphQLScalarType({
  name: 'PlainJson',
  description: 'Response of a plain row, as its document selects it.',
});

/** Returns the name of the root field of a document of sofa-api. */
const rootField = (document: DocumentNode): string => {
  const definition = document.definitions[0];
  const node = definition?.kind === 'OperationDefinition' ? definition.selectionSet.selections[0] : undefined;
  return node?.kind === 'Field' ? node.name.value : '';
};

/**
 * Creates the runner of plain rows, which is sofa-api.
 *
 * Which rows: those declared with `plain(...)`. Their response is the JSON of the field itself, without links, ETag or
 * a status of their own. All other rows (HAL, `Location`, conditional requests, forms, bytes, streams) need the
 * presenters and handlers of the bridge.
 *
 * Why sofa-api: the product requires it for these routes. It matches these requests, calls `execute` and serializes the
 * result; the bridge still handles arguments, permissions and errors.
 *
 * Why `execute` is overridden: sofa-api builds its own document and reads arguments its own way. The compiled row has
 * the selection, validates unknown keys, converts enums and returns 404 for a missing parent, as every other row does.
 * sofa-api therefore gets a schema with one leaf field for each row, and our `execute` runs the row.
 *
 * Requests reach sofa-api only through this function. Its own `/webhook` routes, which send requests to any URL that a
 * client names, are unreachable.
 */
export function createSofaRunner(endpoints: readonly Endpoint[]): RunPlainRow {
  const plain = new Map(endpoints.filter(({ row }) => row.plain).map((endpoint, index) => [`row${index}`, endpoint]));
  if (plain.size === 0) return () => Promise.reject(new Error('There is no plain row'));
  const webhookRow = [...plain.values()].find(({ row }) => /^\/webhook(?:\/|$)/.test(row.path));
  if (webhookRow) throw new RowError(webhookRow.row, 'sofa-api reserves /webhook, a plain row cannot use it');
  const fields = Object.fromEntries([...plain.keys()].map((name) => [name, { type: PlainJson }]));
  const execute = async ({ document, contextValue }: ExecutionArgs) => {
    const { endpoint, call, outcome } = contextValue as SofaContext;
    try {
      return { data: { [rootField(document)]: (await endpoint.run(call)).body } };
    } catch (error) {
      outcome.error = error;
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
    context: (context) => context,
    execute: execute as NonNullable<SofaConfig['execute']>,
    errorHandler: ([error]) => {
      const { status, body } = errorResponse(error, '');
      return Response.json(body, { status }) as ReturnType<NonNullable<SofaConfig['errorHandler']>>;
    },
  });
  return async (endpoint, call) => {
    const context: SofaContext = { endpoint, call, outcome: {} };
    const response = await router.fetch(`http://sofa${call.url}`, { method: endpoint.row.method }, context);
    if ('error' in context.outcome) throw context.outcome.error;
    return { status: response.status, text: await response.text() };
  };
}
