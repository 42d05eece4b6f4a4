import {
  getNamedType,
  getNullableType,
  GraphQLNonNull,
  isInputObjectType,
  isListType,
  isNonNullType,
  type GraphQLInputObjectType,
} from 'graphql';
import { capitalize } from '../src/core/capitalize.ts';
import { ruleOf } from '../src/core/input-rules.ts';
import { isJsonScalar } from '../src/core/query-language.ts';
import type { Endpoint } from './bridge.ts';
import { parametersOf, type ArgumentSlot } from './document.ts';
import type { KeyedLists } from './keyed-lists.ts';
import { operationId } from './openapi-names.ts';
import { parameterExample } from './openapi-parameters.ts';
import { BYTES } from './openapi-shared.ts';
import { withDefault, type JsonSchema, type SchemaComponents } from './openapi-types.ts';

const PREFER_HEADER = {
  name: 'Prefer',
  in: 'header',
  description: '`respond-async` returns the record of the operation immediately, without waiting for the result.',
  schema: { type: 'string' },
  example: 'respond-async',
};

const KEY_HEADER = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Text of 1 to 255 printable ASCII characters, quoted or not. Calls with the same key run once in 24 hours: the others get the ' +
    'first response, with `Idempotency-Replayed: true`. 409 while the first one runs, 422 for another request.',
  schema: { type: 'string', minLength: 1, maxLength: 512 },
  example: '"8e03978e-40d5-43e8-bc93-6894a57f9324"',
};

const LAST_EVENT_HEADER = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'Id of the last event that the client has received. An `EventSource` that connects again sends it.',
  schema: { type: 'string' },
};

const isRequired = ({ type, argument }: ArgumentSlot): boolean =>
  (isNonNullType(type) && argument.defaultValue === undefined) || ruleOf(argument)?.required === true;

const schemaOf = (components: SchemaComponents, { argument }: ArgumentSlot): JsonSchema =>
  withDefault(components.input(argument.type, ruleOf(argument)), argument.defaultValue);

/** Returns the schema of a value in path or query: a text, so that it cannot be null, and JSON is sent as text. */
function textSchema(components: SchemaComponents, { argument }: ArgumentSlot): JsonSchema {
  const { type, defaultValue } = argument;
  if (isJsonScalar(getNamedType(type))) return { type: 'string' };
  return withDefault(components.input(new GraphQLNonNull(getNullableType(type)), ruleOf(argument)), defaultValue);
}

function toParameter(
  components: SchemaComponents,
  endpoint: Endpoint,
  place: 'path' | 'query',
  name: string,
  slot: ArgumentSlot | undefined,
): JsonSchema {
  const description = slot?.argument.description;
  const example = parameterExample(endpoint, name);
  return {
    name,
    in: place,
    required: place === 'path' || (slot !== undefined && isRequired(slot)),
    ...(description && { description }),
    schema: slot ? textSchema(components, slot) : { type: 'string' },
    ...(example !== undefined && { example }),
  };
}

/** Returns the parameters of an endpoint. `names` are the path's parameter names in the document. */
export const parametersSchema = (
  components: SchemaComponents,
  endpoint: Endpoint,
  names: readonly string[],
): JsonSchema[] => [
  ...parametersOf(endpoint.row.path).map((name, index) =>
    toParameter(components, endpoint, 'path', names[index]!, endpoint.plan?.bound.get(name)),
  ),
  ...[...(endpoint.parser?.query ?? [])].map(([name, slot]) => toParameter(components, endpoint, 'query', name, slot)),
  ...(endpoint.presentation?.deferred ? [PREFER_HEADER] : []),
  ...(endpoint.runsOnce ? [KEY_HEADER] : []),
  ...(endpoint.row.options.produces === 'text/event-stream' ? [LAST_EVENT_HEADER] : []),
];

const FILE_FORM: JsonSchema = {
  type: 'object',
  properties: { file: { type: 'string', format: 'binary', description: 'File to upload.' } },
  required: ['file'],
};

/** Returns the request body of an endpoint; undefined for one that reads none. */
export function requestBody(components: SchemaComponents, endpoint: Endpoint): JsonSchema | undefined {
  const { row, parser } = endpoint;
  if (row.method === 'GET' || row.method === 'DELETE') return undefined;
  const isForm = readsForms(endpoint);
  if (isForm && row.options.handler) return { content: { 'multipart/form-data': { schema: FILE_FORM } } };
  const { example } = row.options;
  if (row.options.runsApp) return { content: { '*/*': { schema: BYTES, example } } };
  if (row.options.consumes === 'bytes') return { content: { 'application/octet-stream': { schema: BYTES } } };
  const { bodyArgument, keyArguments = [] } = parser?.body ?? {};
  if (!bodyArgument && keyArguments.length === 0) return undefined;
  // A file without bytes is not a body.
  const required =
    row.options.consumes !== 'file' &&
    (keyArguments.some(({ slot }) => isRequired(slot)) ||
      (bodyArgument !== undefined && isNonNullType(bodyArgument.type)));
  const body = { schema: bodySchema(components, endpoint), ...(example !== undefined && { example }) };
  if (!isForm) return { required, content: { 'application/json': body } };
  const form = { 'multipart/form-data': { ...body, ...encodingOf(endpoint) } };
  const bytes = row.options.consumes === 'file' && { 'application/octet-stream': { schema: BYTES } };
  return { required, content: { ...form, ...bytes } };
}

const readsForms = ({ row }: Endpoint): boolean =>
  row.options.consumes === 'multipart' || row.options.consumes === 'file';

/** Returns the encoding of the lists in a form: JSON in one part. */
function encodingOf({ parser }: Endpoint): JsonSchema {
  const input = getNullableType(parser?.body.bodyArgument?.type);
  const lists = isInputObjectType(input)
    ? Object.values(input.getFields()).filter(({ type }) => isListType(getNullableType(type)))
    : [];
  return lists.length === 0
    ? {}
    : { encoding: Object.fromEntries(lists.map(({ name }) => [name, { contentType: 'application/json' }])) };
}

/**
 * Returns the named schema of a body. A body that is one input object has the schema of its type. Otherwise one closed
 * object has all keys: keys of the input, keys of single arguments, and keys that may be sent but are not read
 * (docs/contract/apis.md#updates).
 */
function bodySchema(components: SchemaComponents, endpoint: Endpoint): JsonSchema {
  const { bodyArgument, keyArguments } = endpoint.parser!.body;
  const input = getNullableType(bodyArgument?.type);
  const isForm = readsForms(endpoint);
  const name = `${capitalize(operationId(endpoint))}Body`;
  const named = (schema: JsonSchema) => components.name(name, [name], schema);
  if (bodyArgument && !isInputObjectType(input))
    return named(components.input(bodyArgument.type, ruleOf(bodyArgument.argument)));
  const { keyed } = endpoint.row.options;
  const fields = isInputObjectType(input)
    ? components.inputFields(input, { hasNull: !isForm, without: keyed ?? {} })
    : { properties: {}, required: [] };
  const properties: Record<string, JsonSchema> = { ...(fields.properties as Record<string, JsonSchema>) };
  const unread = unreadKeys(endpoint, properties);
  if (keyed && isInputObjectType(input)) Object.assign(properties, keyedSchemas(components, input, keyed));
  if (isInputObjectType(input) && !isForm && keyArguments.length === 0 && !keyed && Object.keys(unread).length === 0)
    return components.input(new GraphQLNonNull(input));
  for (const { key, slot } of keyArguments) {
    const { description } = slot.argument;
    properties[key] = { ...schemaOf(components, slot), ...(description && { description }) };
  }
  const required = [...fields.required, ...keyArguments.filter(({ slot }) => isRequired(slot)).map(({ key }) => key)];
  return named({
    type: 'object',
    properties: { ...unread, ...properties },
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...(isInputObjectType(input) && input.description && { description: input.description }),
  });
}

/** Returns the schemas of lists that are objects in the body. */
const keyedSchemas = (
  components: SchemaComponents,
  input: GraphQLInputObjectType,
  keyed: KeyedLists,
): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(keyed).map(([name, { key }]) => {
      const field = input.getFields()[name]!;
      const { properties, required } = components.inputFields(getNamedType(field.type) as GraphQLInputObjectType);
      const { [key]: _key, ...others } = properties;
      const rest = required.filter((one) => one !== key);
      const item = { type: ['string', 'object'], properties: others, required: rest, additionalProperties: false };
      const maximum = ruleOf(field)?.maxItems;
      return [
        name,
        {
          type: isNonNullType(field.type) ? 'object' : ['object', 'null'],
          additionalProperties: item,
          ...(maximum !== undefined && { maxProperties: maximum }),
          ...(field.description && { description: field.description }),
        },
      ];
    }),
  );

/** Returns the schemas of keys that a body may have although nothing takes them. */
function unreadKeys({ row, parser }: Endpoint, taken: Readonly<Record<string, unknown>>): Record<string, JsonSchema> {
  const { ignored, identity, keyArguments } = parser!.body;
  const keys = new Set(keyArguments.map(({ key }) => key));
  const toEntry = (description: string) => (name: string) => [name, { readOnly: true, description }] as const;
  return Object.fromEntries(
    [
      ...[...ignored].map(toEntry('Part of the response. It may be sent back and is ignored.')),
      ...parametersOf(row.path).map(toEntry('It may be sent and must then equal the value in the path.')),
      ...[...identity].map(toEntry('Part of the response. It may be sent back and cannot be changed.')),
    ].filter(([name]) => !(name in taken) && !keys.has(name)),
  );
}
