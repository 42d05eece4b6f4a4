import {
  getNamedType,
  getNullableType,
  GraphQLNonNull,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLOutputType,
} from 'graphql';
import { ERROR_CODE_LIST, ERROR_CODES } from '../src/core/errors.ts';
import type { Endpoint } from './bridge.ts';
import { HAL_SCHEMAS, linksSchema } from './openapi-links.ts';
import { selectionOf, type JsonSchema, type SchemaComponents } from './openapi-types.ts';
import type { Presentation } from './present.ts';

/** Components that do not depend on the GraphQL schema. */
export const SHARED_SCHEMAS: Record<string, JsonSchema> = {
  ...HAL_SCHEMAS,
  ErrorResponse: {
    type: 'object',
    description: 'Body of every error response.',
    properties: {
      statusCode: { type: 'integer', description: 'HTTP status.' },
      error: { type: 'string', description: 'Name of the HTTP status.' },
      message: { type: 'string', description: 'Description of the error in English.' },
      code: {
        type: 'string',
        enum: Object.keys(ERROR_CODES),
        description: `Machine-readable code:\n${ERROR_CODE_LIST}`,
      },
      validation: {
        type: 'array',
        description: 'Invalid values of the request.',
        items: {
          type: 'object',
          properties: {
            path: {
              type: 'array',
              description: 'Path of the value, e.g. `["config", "xAxis"]`.',
              items: { type: ['string', 'integer'] },
            },
            message: { type: 'string', description: 'Description of the issue in English.' },
            code: { type: 'string', description: 'Machine-readable code, e.g. `required`.' },
          },
          required: ['path', 'message', 'code'],
        },
      },
      requestId: {
        type: 'string',
        description: 'Id of the request, as in the header `X-Request-Id`. Only with status 5xx.',
      },
    },
    required: ['statusCode', 'error', 'message', 'code'],
  },
};

/** The error response of every operation. */
export const ERROR_RESPONSE: JsonSchema = {
  description: 'Error.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } },
};

/** Returns the id of an operation, e.g. `get_datasets_id`. */
export const operationId = ({ row }: Endpoint): string =>
  `${row.method.toLowerCase()}${row.path.replace(/[^A-Za-z0-9]+/g, '_')}`;

/**
 * Returns the schema of a field's type as a presentation prints it. `suffix` distinguishes components of the same name.
 */
function presentedSchema(
  components: SchemaComponents,
  type: GraphQLOutputType,
  presentation: Presentation,
  suffix: string,
): JsonSchema {
  if (presentation.shape) return presentation.shape;
  const named = getNamedType(type);
  const fieldType = (name: string) => (isObjectType(named) ? named.getFields()[name]?.type : undefined) ?? type;
  const { unwraps, collection } = presentation;
  if (unwraps) return presentedSchema(components, fieldType(unwraps.field), unwraps.inner, suffix);
  if (collection) return collectionSchema(components, named.name, fieldType, presentation, suffix);
  const selection = selectionOf(presentation.selection);
  if (!presentation.links || !selection) return components.output(type, selection);
  const record = components.object(named, selection, presentation.keys, presentation.optional);
  const embedded = presentation.embeds?.length
    ? {
        _embedded: {
          type: 'object',
          properties: Object.fromEntries(
            presentation.embeds.map(({ rel, name, inner }) => [
              rel,
              embeddedSchema(components, fieldType(name), inner, suffix),
            ]),
          ),
          required: presentation.embeds.map(({ rel }) => rel),
        },
      }
    : {};
  const properties = { ...(record['properties'] as JsonSchema), _links: linksSchema(presentation), ...embedded };
  const required = [...(record['required'] as string[]), '_links', ...Object.keys(embedded)];
  return components.name(named.name, { ...record, properties, required }, suffix);
}

/** Returns the schema of an embedded field: a record, a list of records, or null. */
function embeddedSchema(
  components: SchemaComponents,
  type: GraphQLOutputType,
  inner: Presentation,
  suffix: string,
): JsonSchema {
  const record = presentedSchema(components, type, inner, suffix);
  const schema = isListType(getNullableType(type)) ? { type: 'array', items: record } : record;
  return isNonNullType(type) ? schema : { anyOf: [schema, { type: 'null' }] };
}

/** Returns the schema of a HAL collection: page links, embedded items, counts, and the further fields of the page. */
function collectionSchema(
  components: SchemaComponents,
  typeName: string,
  fieldType: (name: string) => GraphQLOutputType,
  presentation: Presentation,
  suffix: string,
): JsonSchema {
  const { rel, item, extra } = presentation.collection!;
  const items = fieldType('items');
  const itemType = item.links ? (getNamedType(items) as GraphQLOutputType) : elementOf(items);
  const itemSchema = presentedSchema(components, itemType, item, suffix);
  const furtherFields =
    selectionOf(extra)?.selections.flatMap((node) =>
      node.kind === 'Field'
        ? [[node.name.value, components.output(fieldType(node.name.value), node.selectionSet)] as const]
        : [],
    ) ?? [];
  const pageLinks = {
    ...linksSchema(presentation, ['self', 'first', 'prev', 'next', 'last', 'up']),
    required: ['self', 'first', 'up'],
  };
  const properties = {
    _links: pageLinks,
    _embedded: { type: 'object', properties: { [rel]: { type: 'array', items: itemSchema } }, required: [rel] },
    start: { type: 'integer', description: 'Number of items that were skipped.' },
    count: { type: 'integer', description: 'Number of items in this page.' },
    total: { type: 'integer', description: 'Number of items in all pages.' },
    ...Object.fromEntries(furtherFields),
  };
  return components.name(
    `${typeName.replace(/Page$/, '')}Collection`,
    { type: 'object', properties, required: Object.keys(properties) },
    suffix,
  );
}

/** Returns the element type of a list, through all wrapping types. */
const elementOf = (type: GraphQLOutputType): GraphQLOutputType =>
  'ofType' in type ? elementOf(type.ofType as GraphQLOutputType) : type;

const LOCATION_HEADER = {
  headers: { Location: { description: 'Path of the new resource.', schema: { type: 'string' } } },
};
const OPERATION_LOCATION_HEADER = {
  headers: { Location: { description: 'Path of the operation.', schema: { type: 'string' } } },
};
const ETAG_HEADER = {
  headers: {
    ETag: {
      description: 'Entity tag, for `If-None-Match` and, of a single record, `If-Match`.',
      schema: { type: 'string' },
    },
  },
};

/** Returns the responses of an endpoint by their status. */
export function responsesOf(components: SchemaComponents, endpoint: Endpoint): JsonSchema {
  const { row, plan, presentation } = endpoint;
  const leafType = plan?.chain.at(-1)!.field.type;
  // A null is 404, unless the row returns it.
  const type = leafType && !row.options.nullable ? new GraphQLNonNull(getNullableType(leafType)) : leafType;
  const content = (by: Presentation) => {
    const body = { schema: presentedSchema(components, type!, by, operationId(endpoint)) };
    const isHal = '$ref' in body.schema;
    return { content: { 'application/json': body, ...(isHal && { 'application/hal+json': body }) } };
  };
  const { status = presentation || row.options.handler ? 200 : 204 } = row.options;
  const statuses = typeof status === 'number' ? [status] : status.oneOf;
  const success = row.options.produces
    ? { content: Object.fromEntries([row.options.produces].flat().map((mediaType) => [mediaType, {}])) }
    : presentation
      ? content(presentation)
      : {};
  const isTagged =
    row.options.revalidates || (presentation?.single && row.method === 'GET' && !row.plain && !row.options.handler);
  return {
    ...Object.fromEntries(
      statuses.map((code) => [
        code,
        {
          description: successDescription(row.options.produces),
          ...(code === 201 && LOCATION_HEADER),
          ...(isTagged && ETAG_HEADER),
          ...success,
        },
      ]),
    ),
    ...(isTagged && { 304: { description: 'The client has this version: `If-None-Match` names it.' } }),
    ...(presentation?.deferred && {
      202: {
        description: 'The operation has started. `Location` is the path of its record.',
        ...OPERATION_LOCATION_HEADER,
        ...content(presentation.deferred),
      },
    }),
    '4XX': { $ref: '#/components/responses/Error' },
    '5XX': { $ref: '#/components/responses/Error' },
  };
}

function successDescription(produces: string | readonly string[] | undefined): string {
  if (produces === 'text/event-stream')
    return 'Stream of server-sent events. It starts with the current state and ends when there are no further events.';
  if (Array.isArray(produces)) return 'File in the requested format.';
  return 'Success.';
}
