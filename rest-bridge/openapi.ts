import { isNonNullType } from 'graphql';
import type { Endpoint } from './bridge.ts';
import { parametersOf, type ArgumentSlot } from './document.ts';
import { ERROR_RESPONSE, operationId, responsesOf, SHARED_SCHEMAS } from './openapi-responses.ts';
import { SchemaComponents, withDefault, type JsonSchema } from './openapi-types.ts';

/** Returns a path as OpenAPI and `routes.txt` write it: `/api/datasets/{id}` for `/datasets/:id`. */
export const templatePath = (path: string): string => `/api${path.replace(/:(\w+)\*?/g, '{$1}')}`;

/**
 * Returns the GraphQL field of a row with its parents, e.g. `Query.dataset.filters`; null for a row without a field.
 */
export const coordinateOf = ({ plan }: Endpoint): string | null =>
  plan ? [plan.chain[0]!.parent, ...plan.chain.map(({ name }) => name)].join('.') : null;

function toParameter(
  components: SchemaComponents,
  place: 'path' | 'query',
  name: string,
  slot: ArgumentSlot | undefined,
): JsonSchema {
  const argument = slot?.argument;
  return {
    name,
    in: place,
    required:
      place === 'path' ||
      (argument !== undefined && isNonNullType(argument.type) && argument.defaultValue === undefined),
    ...(argument?.description && { description: argument.description }),
    schema: argument ? withDefault(components.input(argument.type), argument.defaultValue) : { type: 'string' },
  };
}

const toContent = (type: string, schema: JsonSchema) => ({ content: { [type]: { schema } } });

const FILE_FORM: JsonSchema = {
  type: 'object',
  properties: { file: { type: 'string', format: 'binary', description: 'File to upload.' } },
  required: ['file'],
};

function requestBody(components: SchemaComponents, { row, parser }: Endpoint): JsonSchema | undefined {
  if (row.method !== 'POST' && row.method !== 'PUT') return undefined;
  const isForm = row.options.consumes === 'multipart';
  if (isForm && row.options.handler) return toContent('multipart/form-data', FILE_FORM);
  if (row.options.consumes === 'bytes') return toContent('application/octet-stream', {});
  const { bodyArgument, keyArguments = [] } = parser?.body ?? {};
  if (!bodyArgument && keyArguments.length === 0) return undefined;
  const properties = Object.fromEntries(
    keyArguments.map(({ key, slot }) => [key, toParameter(components, 'query', key, slot)['schema']]),
  );
  const required = keyArguments.filter(({ slot }) => isNonNullType(slot.type)).map(({ key }) => key);
  const keys =
    keyArguments.length > 0 ? { type: 'object', properties, ...(required.length > 0 && { required }) } : undefined;
  const input =
    bodyArgument &&
    components.input(isNonNullType(bodyArgument.type) || !keys ? bodyArgument.type : bodyArgument.argument.type);
  return {
    required: required.length > 0 || (bodyArgument !== undefined && isNonNullType(bodyArgument.type)),
    ...toContent(
      isForm ? 'multipart/form-data' : 'application/json',
      input && keys ? { allOf: [input, keys] } : (input ?? keys!),
    ),
  };
}

const PREFER_HEADER = {
  name: 'Prefer',
  in: 'header',
  description: '`respond-async` returns the record of the operation at once, without waiting for the result.',
  schema: { type: 'string' },
};

/**
 * Returns the operation of an endpoint. `names` are the path's parameter names in the document, which has only one
 * set for a path.
 */
function toOperation(components: SchemaComponents, endpoint: Endpoint, names: readonly string[]): JsonSchema {
  const { row, plan, parser } = endpoint;
  const body = requestBody(components, endpoint);
  const description = plan?.chain.at(-1)!.field.description;
  return {
    operationId: operationId(endpoint),
    tags: [row.path.split('/')[1]!],
    ...(description && { description }),
    parameters: [
      ...parametersOf(row.path).map((name, index) =>
        toParameter(components, 'path', names[index]!, plan?.bound.get(name)),
      ),
      ...[...(parser?.query ?? [])].map(([name, slot]) => toParameter(components, 'query', name, slot)),
      ...(endpoint.presentation?.deferred ? [PREFER_HEADER] : []),
    ],
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
