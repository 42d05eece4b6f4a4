import type { Endpoint } from './bridge.ts';
import { parametersOf } from './document.ts';
import { parametersSchema, requestBody } from './openapi-request.ts';
import { ERROR_RESPONSE, operationId, responsesOf, SHARED_SCHEMAS } from './openapi-responses.ts';
import { SchemaComponents, type JsonSchema } from './openapi-types.ts';

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
  const { row, plan } = endpoint;
  const body = requestBody(components, endpoint);
  const description = plan?.chain.at(-1)!.field.description;
  return {
    operationId: operationId(endpoint),
    tags: [row.path.split('/')[1] ?? 'root'],
    ...(description && { description }),
    parameters: parametersSchema(components, endpoint, names),
    ...(body && { requestBody: body }),
    responses: responsesOf(components, endpoint),
    ...(endpoint.public && { security: [] }),
    'x-graphql-operation': coordinateOf(endpoint),
    'x-permission': endpoint.permission,
  };
}

/** Returns the OpenAPI 3.1 document of all endpoints. */
export function openApi(
  endpoints: readonly Endpoint[],
  info: { title: string; version: string; description?: string },
): JsonSchema {
  const components = new SchemaComponents();
  Object.assign(components.schemas, SHARED_SCHEMAS);
  const paths: Record<string, Record<string, JsonSchema>> = {};
  const pathsByShape = new Map<string, string>();
  for (const endpoint of endpoints) {
    const shape = endpoint.row.path.replace(/:\w+/g, ':');
    const path = pathsByShape.get(shape) ?? endpoint.row.path;
    pathsByShape.set(shape, path);
    const operations = (paths[templatePath(path)] ??= {});
    operations[endpoint.row.method.toLowerCase()] = toOperation(components, endpoint, parametersOf(path));
  }
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { cookie: [] }],
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
