import {
  execute,
  getNamedType,
  GraphQLObjectType,
  GraphQLSchema,
  isEnumType,
  isNonNullType,
  type GraphQLOutputType,
} from 'graphql';
import { useSofa } from 'sofa-api';
import type { Endpoint } from './bridge.ts';
import type { Call } from './call.ts';
import { RowError } from './document.ts';
import { fieldsOf } from './selection.ts';

/** Runs one request to a plain row through sofa-api. Throws the errors of the row. */
export type RunPlainRow = (endpoint: Endpoint, call: Call) => Promise<{ status: number; text: string }>;

/** The context of one request in sofa-api. */
interface SofaContext {
  resolvers: object;
}
type ErrorHandler = NonNullable<Parameters<typeof useSofa>[0]['errorHandler']>;

/** The response of sofa-api to an error. Fastify's error handler sends the error, as for every other row. */
class FailedResponse extends Response {
  readonly error: unknown;

  constructor(error: unknown) {
    super(null, { status: 500 });
    this.error = error;
  }
}

/**
 * Creates the runner of plain rows, which is sofa-api on the service's own types: it builds the documents, reads the
 * arguments, executes and serializes. The bridge refuses unknown keys before, and sends the errors. Throws `RowError`
 * for a row that sofa-api would serve in another way than the bridge.
 *
 * Fastify has routed a request before, so its path in sofa-api is the field, with the arguments in the query string: a
 * parameter `..` would change a path. Requests reach sofa-api only through this function. Its own `/webhook` routes,
 * which send requests to any URL that a client names, are unreachable.
 */
export function createSofaRunner(schema: GraphQLSchema, endpoints: readonly Endpoint[]): RunPlainRow {
  const plain = endpoints.filter(({ row }) => row.plain);
  if (plain.length === 0) return () => Promise.reject(new Error('There is no plain row'));
  for (const endpoint of plain) checkPlainRow(endpoint);
  const router = useSofa({
    basePath: '/',
    schema: selectRootFields(schema, plain),
    routes: Object.fromEntries(plain.map(routeOf)),
    // Resolvers see the whole schema.
    execute: (operation) => execute({ ...operation, schema }),
    // sofa-api adds its own request to the object that it gets.
    context: (server) => (server as unknown as SofaContext).resolvers,
    errorHandler: (([error]) => new FailedResponse(error)) as ErrorHandler,
  });
  return async ({ row: { method }, plan, parser }, call) => {
    const query = new URLSearchParams(parser!.parse(call).variables as Record<string, string>);
    const url = `http://sofa/${rootFieldOf(plan!)}?${query}`;
    const response = await router.fetch(url, { method }, { resolvers: call.context });
    if (response instanceof FailedResponse) throw response.error;
    if (!response.ok) throw new Error(`sofa-api responds to ${url} with ${response.status}: ${await response.text()}`);
    return { status: response.status, text: await response.text() };
  };
}

/** Throws `RowError` for a row that sofa-api would not serve as the bridge does. */
function checkPlainRow({ row, plan }: Endpoint): void {
  const { chain, slots, bound } = plan!;
  const { type } = chain[0]!.field;
  const problem =
    chain.length > 1
      ? 'its field is not a root field'
      : bound.size < slots.length
        ? 'its field has arguments other than the parameters of the path'
        : !isNonNullType(type)
          ? 'its field may be null'
          : hasEnum(type)
            ? 'its type has enums, whose values differ in REST'
            : undefined;
  if (problem) throw new RowError(row, `a plain row is served by sofa-api: ${problem}`);
}

/** Returns whether a type or its fields are enums. The selection of a plain row contains all of them. */
const hasEnum = (type: GraphQLOutputType): boolean =>
  isEnumType(getNamedType(type)) || Object.values(fieldsOf(type)).some((field) => hasEnum(field.type));

/** Returns the schema with only the root fields of rows: sofa-api builds a document for each root field. */
function selectRootFields(schema: GraphQLSchema, endpoints: readonly Endpoint[]): GraphQLSchema {
  const wanted = new Set(endpoints.map(({ plan }) => rootFieldOf(plan!)));
  const select = (type: GraphQLObjectType | null | undefined): GraphQLObjectType | undefined => {
    if (!type) return undefined;
    const { fields, ...config } = type.toConfig();
    const selected = Object.entries(fields).filter(([name]) => wanted.has(`${type.name}.${name}`));
    return selected.length > 0 ? new GraphQLObjectType({ ...config, fields: Object.fromEntries(selected) }) : undefined;
  };
  return new GraphQLSchema({ query: select(schema.getQueryType()), mutation: select(schema.getMutationType()) });
}

/** Returns the route of a plain row in sofa-api, by its field. */
const routeOf = ({ row: { method }, plan }: Endpoint) => [
  rootFieldOf(plan!),
  { method, path: `/${rootFieldOf(plan!)}` },
];

/** Returns the coordinate of a plain row's field, e.g. `Query.topMenuTemplates`. */
const rootFieldOf = ({ chain }: NonNullable<Endpoint['plan']>): string => `${chain[0]!.parent}.${chain[0]!.name}`;
