import { getNamedType, isNonNullType, isObjectType, type GraphQLOutputType } from 'graphql';
import type { Endpoint } from './bridge.ts';
import { parametersOf, type ArgumentSlot } from './document.ts';
import { selectionOf, SchemaComponents, withDefault, type JsonSchema } from './openapi-types.ts';
import type { Presentation } from './present.ts';

const LINK = { $ref: '#/components/schemas/HalLink' };
const SHARED: Record<string, JsonSchema> = {
  HalLink: { type: 'object', properties: { href: { type: 'string' } }, required: ['href'] },
  ErrorAnswer: {
    type: 'object',
    description: 'What every error answers.',
    properties: {
      statusCode: { type: 'integer' },
      error: { type: 'string', description: 'Name of the status.' },
      message: { type: 'string' },
      code: { type: 'string' },
      validation: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            path: { type: 'array', items: { type: ['string', 'integer'] } },
            message: { type: 'string' },
            code: { type: 'string' },
          },
          required: ['path', 'message', 'code'],
        },
      },
      requestId: { type: 'string', description: 'Only with 5xx.' },
    },
    required: ['statusCode', 'error', 'message', 'code'],
  },
};

/** `/datasets/:id` as OpenAPI and `routes.txt` write it. */
export const templatePath = (path: string): string => `/api${path.replace(/:(\w+)\*?/g, '{$1}')}`;

/** The GraphQL field of a row by its way from the root, e.g. `Query.dataset.filters`; null for what GraphQL does not have. */
export const coordinateOf = ({ plan }: Endpoint): string | null =>
  plan ? [plan.chain[0]!.parent, ...plan.chain.map(({ name }) => name)].join('.') : null;

const operationId = ({ row }: Endpoint): string =>
  `${row.method.toLowerCase()}${row.path.replace(/[^A-Za-z0-9]+/g, '_')}`;
const links = ({ links: templates = {} }: Presentation): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(Object.keys(templates).map((rel) => [rel, LINK])),
});

/** The schema of what a presentation prints of a field's type. */
function presentedSchema(book: SchemaComponents, type: GraphQLOutputType, presentation: Presentation, id: string): JsonSchema {
  if (presentation.shape) return presentation.shape;
  const named = getNamedType(type);
  const fieldType = (name: string) => (isObjectType(named) ? named.getFields()[name]?.type : undefined) ?? type;
  if (presentation.unwraps) return presentedSchema(book, fieldType(presentation.unwraps.field), presentation.unwraps.inner, id);
  if (presentation.collection) return collectionSchema(book, named.name, fieldType, presentation.collection, id);
  const selection = selectionOf(presentation.selection);
  if (!presentation.links || !selection) return book.output(type, selection);
  const record = book.object(named, selection, presentation.keys);
  const embedded = presentation.embeds?.length
    ? {
        _embedded: {
          type: 'object',
          properties: Object.fromEntries(
            presentation.embeds.map(({ rel, name, inner }) => [rel, presentedSchema(book, fieldType(name), inner, id)]),
          ),
        },
      }
    : {};
  return book.name(
    named.name,
    { ...record, properties: { ...(record['properties'] as JsonSchema), _links: links(presentation), ...embedded } },
    id,
  );
}

function collectionSchema(
  book: SchemaComponents,
  typeName: string,
  fieldType: (name: string) => GraphQLOutputType,
  { rel, item, extra }: NonNullable<Presentation['collection']>,
  id: string,
): JsonSchema {
  const items = fieldType('items');
  const each = presentedSchema(book, item.links ? (getNamedType(items) as GraphQLOutputType) : elementOf(items), item, id);
  const beside = selectionOf(extra);
  const page =
    beside?.selections
      .map((node) =>
        node.kind === 'Field'
          ? ([node.name.value, book.output(fieldType(node.name.value), node.selectionSet)] as const)
          : undefined,
      )
      .filter((entry) => entry !== undefined) ?? [];
  const pageLinks = {
    type: 'object',
    properties: Object.fromEntries(['self', 'first', 'prev', 'next', 'last'].map((name) => [name, LINK])),
    required: ['self', 'first'],
  };
  const properties = {
    _links: pageLinks,
    _embedded: { type: 'object', properties: { [rel]: { type: 'array', items: each } }, required: [rel] },
    start: { type: 'integer' },
    count: { type: 'integer' },
    total: { type: 'integer' },
    ...Object.fromEntries(page),
  };
  return book.name(
    `${typeName.replace(/Page$/, '')}Collection`,
    { type: 'object', properties, required: Object.keys(properties) },
    id,
  );
}

/** What a list holds, below its wrappings. */
const elementOf = (type: GraphQLOutputType): GraphQLOutputType =>
  'ofType' in type ? elementOf(type.ofType as GraphQLOutputType) : type;

function parameter(book: SchemaComponents, place: 'path' | 'query', name: string, slot: ArgumentSlot | undefined): JsonSchema {
  const argument = slot?.argument;
  return {
    name,
    in: place,
    required:
      place === 'path' ||
      (argument !== undefined && isNonNullType(argument.type) && argument.defaultValue === undefined),
    ...(argument?.description && { description: argument.description }),
    schema: argument ? withDefault(book.input(argument.type), argument.defaultValue) : { type: 'string' },
  };
}

function requestBody(book: SchemaComponents, { row, parser: reader }: Endpoint): JsonSchema | undefined {
  if (row.method !== 'POST' && row.method !== 'PUT') return undefined;
  const content = (type: string, schema: JsonSchema) => ({ content: { [type]: { schema } } });
  const form = row.options.consumes === 'multipart';
  if (form && row.options.handler)
    return content('multipart/form-data', {
      type: 'object',
      properties: { file: { type: 'string', format: 'binary' } },
      required: ['file'],
    });
  if (row.options.consumes === 'bytes') return content('application/octet-stream', {});
  const { whole, single = [] } = reader?.body ?? {};
  if (!whole && single.length === 0) return undefined;
  const properties = Object.fromEntries(
    single.map(({ key, slot }) => [key, parameter(book, 'query', key, slot)['schema']]),
  );
  const required = single.filter(({ slot }) => isNonNullType(slot.type)).map(({ key }) => key);
  const keys = single.length > 0 ? { type: 'object', properties, ...(required.length > 0 && { required }) } : undefined;
  const input = whole && book.input(isNonNullType(whole.type) || !keys ? whole.type : whole.argument.type);
  return {
    required: required.length > 0 || (whole !== undefined && isNonNullType(whole.type)),
    ...content(
      form ? 'multipart/form-data' : 'application/json',
      input && keys ? { allOf: [input, keys] } : (input ?? keys!),
    ),
  };
}

function responses(book: SchemaComponents, endpoint: Endpoint): JsonSchema {
  const { row, plan, presentation } = endpoint;
  const type = plan?.chain.at(-1)!.field.type;
  const content = (by: Presentation) => ({
    content: { 'application/json': { schema: presentedSchema(book, type!, by, operationId(endpoint)) } },
  });
  const status =
    typeof row.options.status === 'number' ? row.options.status : presentation || row.options.handler ? 200 : 204;
  const location = { headers: { Location: { schema: { type: 'string' } } } };
  const success = row.options.produces
    ? { content: Object.fromEntries([row.options.produces].flat().map((type) => [type, {}])) }
    : presentation
      ? content(presentation)
      : {};
  return {
    [status]: {
      description: 'Success',
      ...(status === 201 && location),
      ...(presentation?.single && row.method === 'GET' && { headers: { ETag: { schema: { type: 'string' } } } }),
      ...success,
    },
    ...(presentation?.deferred && {
      202: {
        description: 'Begun; the operation can be followed at `Location`.',
        ...location,
        ...content(presentation.deferred),
      },
    }),
    '4XX': { $ref: '#/components/responses/Error' },
    '5XX': { $ref: '#/components/responses/Error' },
  };
}

/** `names` are the path's parameters as the document calls them: it knows a path by one set of names only. */
function operationOf(book: SchemaComponents, endpoint: Endpoint, names: readonly string[]): JsonSchema {
  const { row, plan, parser: reader } = endpoint;
  const prefer = endpoint.presentation?.deferred
    ? [{ name: 'Prefer', in: 'header', description: '`respond-async` answers at once.', schema: { type: 'string' } }]
    : [];
  const body = requestBody(book, endpoint);
  const description = row.options.summary ?? plan?.chain.at(-1)!.field.description;
  return {
    operationId: operationId(endpoint),
    tags: [row.path.split('/')[1]!],
    ...(description && { description }),
    parameters: [
      ...parametersOf(row.path).map((name, index) => parameter(book, 'path', names[index]!, plan?.bound.get(name))),
      ...[...(reader?.query ?? [])].map(([name, slot]) => parameter(book, 'query', name, slot)),
      ...prefer,
    ],
    ...(body && { requestBody: body }),
    responses: responses(book, endpoint),
    ...(endpoint.public && { security: [] }),
    'x-graphql-operation': coordinateOf(endpoint),
    'x-permission': endpoint.permission,
  };
}

/** The OpenAPI 3.1 document of the whole table. */
export function openApi(
  endpoints: readonly Endpoint[],
  info: { title: string; version: string; description?: string },
): JsonSchema {
  const book = new SchemaComponents();
  Object.assign(book.components, SHARED);
  const paths: Record<string, Record<string, JsonSchema>> = {};
  const spelled = new Map<string, string>();
  for (const endpoint of endpoints) {
    const shape = endpoint.row.path.replace(/:\w+/g, ':');
    const path = spelled.get(shape) ?? endpoint.row.path;
    spelled.set(shape, path);
    (paths[templatePath(path)] ??= {})[endpoint.row.method.toLowerCase()] = operationOf(
      book,
      endpoint,
      parametersOf(path),
    );
  }
  const error = {
    description: 'An error',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorAnswer' } } },
  };
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { cookie: [] }],
    paths,
    components: {
      schemas: book.components,
      responses: { Error: error },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'dws_session' },
      },
    },
  };
}
