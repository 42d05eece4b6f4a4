import { getNullableType, isListType } from 'graphql';
import type { Endpoint } from './bridge.ts';
import { parametersOf, RowError } from './document.ts';
import { describe, operationId } from './openapi-names.ts';
import { differingNames } from './openapi-presented.ts';
import { parametersSchema, requestBody } from './openapi-request.ts';
import { responsesOf } from './openapi-responses.ts';
import { ERROR_RESPONSE, SHARED_SCHEMAS } from './openapi-shared.ts';
import { tagsOf, themeOf } from './openapi-themes.ts';
import { SchemaComponents, type JsonSchema } from './openapi-types.ts';
import { shapeOf } from './words.ts';

/** Returns a path as OpenAPI and `routes.txt` write it: `/api/datasets/{id}` for `/datasets/:id`. */
export const templatePath = (path: string): string => `/api${path.replace(/:(\w+)\*?/g, '{$1}')}`;

/**
 * Returns the GraphQL field of a row with its parents, e.g. `Query.dataset.filters`; null for a row without a field.
 */
export const coordinateOf = ({ plan }: Endpoint): string | null =>
  plan ? [plan.chain[0]!.parent, ...plan.chain.map(({ name }) => name)].join('.') : null;

/**
 * Returns the operation of an endpoint. `names` are the path's parameter names in the document, which has only one
 * set for a path.
 */
function toOperation(components: SchemaComponents, endpoint: Endpoint, names: readonly string[]): JsonSchema {
  const body = requestBody(components, endpoint);
  return {
    operationId: operationId(endpoint),
    tags: [themeOf(endpoint)],
    ...describe(endpoint),
    parameters: parametersSchema(components, endpoint, names),
    ...(body && { requestBody: body }),
    responses: responsesOf(components, endpoint),
    ...(endpoint.public && { security: [] }),
    'x-graphql-operation': coordinateOf(endpoint),
    'x-permission': endpoint.permission,
  };
}

interface Info {
  title: string;
  version: string;
  description?: string;
  license?: { name: string };
  contact?: { name: string; url: string };
}

/** Throws if two endpoints have one operation id. */
function checkIds(endpoints: readonly Endpoint[]): void {
  const ids = new Map<string, Endpoint>();
  for (const endpoint of endpoints) {
    const id = operationId(endpoint);
    if (ids.has(id)) throw new RowError(endpoint.row, `has the operation id ${id} of ${ids.get(id)!.row.path}`);
    ids.set(id, endpoint);
  }
}

/** Returns a look-up of paths. The paths of one shape, which differ in the names of parameters, are one path. */
function createPathOf(endpoints: readonly Endpoint[]): (endpoint: Endpoint) => string {
  const paths = new Map<string, string>();
  for (const endpoint of endpoints) {
    const shape = shapeOf(endpoint.row.path);
    paths.set(shape, paths.get(shape) ?? endpoint.row.path);
  }
  return (endpoint) => paths.get(shapeOf(endpoint.row.path))!;
}

/**
 * Adds to each response to a creation the link to the operation that reads the new record: the one whose path has one parameter more.
 */
function linkCreations(
  endpoints: readonly Endpoint[],
  operations: ReadonlyMap<Endpoint, JsonSchema>,
  pathOf: (endpoint: Endpoint) => string,
): void {
  for (const endpoint of endpoints) {
    const created = (operations.get(endpoint)!['responses'] as Record<string, JsonSchema>)['201'];
    if (!created || endpoint.row.method !== 'POST') continue;
    const shape = shapeOf(`${endpoint.row.path}/:id`);
    const reader = endpoints.find(({ row }) => row.method === 'GET' && shapeOf(row.path) === shape);
    if (!reader) continue;
    const names = parametersOf(pathOf(reader));
    const own = parametersOf(pathOf(endpoint));
    const parameters = Object.fromEntries(
      names.map((name, i) => [name, i < own.length ? `$request.path.${own[i]}` : '$response.body#/id']),
    );
    const id = operationId(reader);
    created['links'] = { [id]: { operationId: id, parameters, description: 'Reads the new record.' } };
  }
}

/**
 * Returns the OpenAPI 3.2 twin of a 3.1 document: it also has the operations with the method QUERY, which 3.1 cannot describe.
 */
export function openApi32(document: JsonSchema, endpoints: readonly Endpoint[]): JsonSchema {
  const paths = { ...(document['paths'] as Record<string, Record<string, JsonSchema>>) };
  for (const { row } of endpoints) {
    const { queryPath } = row.options;
    if (queryPath === undefined) continue;
    const { operationId: id, ...post } = paths[templatePath(row.path)]!['post']!;
    const [path, get] = [templatePath(queryPath), paths[templatePath(queryPath)]!];
    const read = get['get']!['responses'] as Record<string, JsonSchema>;
    const responses = post['responses'] as Record<string, JsonSchema>;
    paths[path] = {
      ...get,
      query: {
        ...post,
        operationId: `${String(id)}ByQuery`,
        responses: { ...responses, 200: { ...responses['200'], headers: read['200']!['headers'] }, 304: read['304']! },
      },
    };
  }
  return { ...document, openapi: '3.2.0', paths };
}

/** Returns the OpenAPI 3.1 document of all endpoints. */
export function openApi(endpoints: readonly Endpoint[], info: Info): JsonSchema {
  checkIds(endpoints);
  const components = new SchemaComponents(differingNames(endpoints));
  Object.assign(components.schemas, SHARED_SCHEMAS);
  const operations = new Map<Endpoint, JsonSchema>();
  const pathOf = createPathOf(endpoints);
  // The schemas of single records are added first, so that they have the plain names of their types.
  const isList = ({ plan, presentation }: Endpoint) =>
    presentation?.collection !== undefined || isListType(getNullableType(plan?.chain.at(-1)!.field.type));
  const rank = (endpoint: Endpoint) => (isList(endpoint) ? 2 : endpoint.row.method === 'GET' ? 0 : 1);
  for (const endpoint of endpoints.toSorted((one, other) => rank(one) - rank(other)))
    operations.set(endpoint, toOperation(components, endpoint, parametersOf(pathOf(endpoint))));
  linkCreations(endpoints, operations, pathOf);
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const endpoint of endpoints)
    (paths[templatePath(pathOf(endpoint))] ??= {})[endpoint.row.method.toLowerCase()] = operations.get(endpoint)!;
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { cookie: [] }],
    tags: tagsOf(endpoints),
    paths,
    components: {
      schemas: components.schemas,
      responses: { Error: ERROR_RESPONSE },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'API token.' },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: 'dws_session',
          description: 'Session of a login. Changes require a request from the same origin.',
        },
      },
    },
  };
}
