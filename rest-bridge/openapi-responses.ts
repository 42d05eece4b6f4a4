import { getNullableType, GraphQLNonNull } from 'graphql';
import type { Endpoint } from './bridge.ts';
import { resultSchema } from './openapi-presented.ts';
import { BYTES, FILE_ROWS } from './openapi-shared.ts';
import type { JsonSchema, SchemaComponents } from './openapi-types.ts';
import type { Presentation } from './present.ts';

const LOCATION_HEADER = {
  headers: { Location: { description: 'Path of the new resource.', schema: { type: 'string' } } },
};
const REDIRECT = {
  description: 'Redirect.',
  headers: { Location: { description: 'Where the browser goes.', schema: { type: 'string' } } },
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

/** Returns the schemas of responses other than JSON objects, by their media types: a list, a text, or bytes. */
const mediaTypesOf = (mediaTypes: readonly string[]): JsonSchema =>
  Object.fromEntries(
    mediaTypes.map((mediaType) => {
      const isText = /^text\/|ndjson$/.test(mediaType);
      const isList = mediaType === 'application/json';
      return [mediaType, { schema: isList ? FILE_ROWS : isText ? { type: 'string' } : BYTES }];
    }),
  );

/** Returns the responses of an endpoint by their status. */
export function responsesOf(components: SchemaComponents, endpoint: Endpoint): JsonSchema {
  const { row, presentation } = endpoint;
  const isTagged =
    row.options.revalidates || (presentation?.single && row.method === 'GET' && !row.plain && !row.options.handler);
  return {
    ...successResponses(components, endpoint, isTagged ? ETAG_HEADER : {}),
    ...(isTagged && { 304: { description: 'The client has this version: `If-None-Match` names it.' } }),
    ...(presentation?.deferred && {
      202: {
        description: 'The operation has started. `Location` is the path of its record.',
        ...OPERATION_LOCATION_HEADER,
        ...contentOf(components, endpoint, presentation.deferred),
      },
    }),
    ...(row.options.produces === 'text/event-stream' && {
      204: { description: 'The client has received the final event: `Last-Event-ID` names it.' },
    }),
    ...(row.options.runsApp && { default: { description: 'Response of the handler with any other status.' } }),
    '4XX': { $ref: '#/components/responses/Error' },
    '5XX': { $ref: '#/components/responses/Error' },
  };
}

/** Returns the responses with the result of the field, or without one. */
function successResponses(components: SchemaComponents, endpoint: Endpoint, headers: JsonSchema): JsonSchema {
  const { row, presentation } = endpoint;
  const { produces, handler, status = presentation || handler ? 200 : 204 } = row.options;
  const content = produces
    ? { content: mediaTypesOf([produces].flat()) }
    : presentation && status !== 302
      ? contentOf(components, endpoint, presentation)
      : {};
  const description = successDescription(produces);
  const responseOf = (code: number) =>
    code === 302 ? REDIRECT : { description, ...(code === 201 ? LOCATION_HEADER : headers), ...content };
  const statuses = typeof status === 'number' ? [status] : status.oneOf;
  return Object.fromEntries(statuses.map((code) => [code, responseOf(code)]));
}

/** Returns the content of a response that is the result as `by` presents it. */
function contentOf(components: SchemaComponents, endpoint: Endpoint, by: Presentation): JsonSchema {
  const { row, plan, presentation } = endpoint;
  const leafType = plan?.chain.at(-1)!.field.type;
  // A null is 404, unless the row returns it.
  const type = leafType && !row.options.nullable ? new GraphQLNonNull(getNullableType(leafType)) : leafType;
  const example = by === presentation ? row.options.responseExample : undefined;
  const body = { schema: resultSchema(components, endpoint, type!, by), ...(example !== undefined && { example }) };
  const { links, collection } = by.unwraps?.inner ?? by;
  return { content: { 'application/json': body, ...((links ?? collection) && { 'application/hal+json': body }) } };
}

function successDescription(produces: string | readonly string[] | undefined): string {
  if (produces === 'text/event-stream')
    return (
      'Stream of server-sent events with JSON as `data`. ' +
      'It starts with the current state and ends when there are no further events.'
    );
  if (Array.isArray(produces)) return 'File in the requested format.';
  return 'Success.';
}
