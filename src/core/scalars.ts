import { GraphQLScalarType, Kind } from 'graphql';
import { GraphQLJSON, GraphQLJSONObject } from 'graphql-scalars';
import { fileFromText } from './data-url.ts';
import { isoDatetime } from './dates.ts';
import type { IncomingFile } from './files.ts';

function parseDateTime(value: unknown): Date {
  const time = typeof value === 'string' ? isoDatetime(value) : undefined;
  if (time === undefined) throw new TypeError(`"${String(value)}" is not an ISO 8601 timestamp`);
  return new Date(time);
}

export const DateTime = new GraphQLScalarType<Date, string>({
  name: 'DateTime',
  description:
    'Date and time in ISO 8601, in UTC with milliseconds, e.g. `2026-01-31T08:00:00.000Z`. A date alone is its midnight, a ' +
    'time without a zone is in UTC, and a day that does not exist is refused.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  // The read path returns timestamps as text in this form.
  serialize: (value) => (typeof value === 'string' ? value : (value as Date).toISOString()),
  parseValue: parseDateTime,
  parseLiteral: (node) => parseDateTime(node.kind === Kind.STRING ? node.value : undefined),
});

const isIncomingFile = (value: unknown): value is IncomingFile =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { content?: AsyncIterable<Uint8Array> }).content?.[Symbol.asyncIterator] === 'function';

function parseFile(value: unknown): IncomingFile {
  const file = isIncomingFile(value) ? value : typeof value === 'string' ? fileFromText(value) : undefined;
  if (!file) throw new TypeError('A file must be a `data:` URL or base64');
  return file;
}

/** An uploaded file. GraphQL and JSON bodies contain it as text; a form of REST passes a stream. */
export const FileContent = new GraphQLScalarType<IncomingFile, never>({
  name: 'FileContent',
  description:
    'File: a `data:` URL or base64. A JSON body has at most 10 MB; send larger files by REST as `multipart/form-data`.',
  serialize: () => {
    throw new TypeError('FileContent is an input type');
  },
  parseValue: parseFile,
  parseLiteral: (node) => parseFile(node.kind === Kind.STRING ? node.value : undefined),
});

export { GraphQLJSON as Json, GraphQLJSONObject as JsonObject };
