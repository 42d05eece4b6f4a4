import { GraphQLScalarType, Kind } from 'graphql';
import { GraphQLJSON, GraphQLJSONObject } from 'graphql-scalars';
import { fileFromText } from './data-url.ts';
import type { IncomingFile } from './files.ts';

const ISO = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?$/;

function parseDateTime(value: unknown): Date {
  const date = typeof value === 'string' && ISO.test(value) ? new Date(value) : null;
  if (!date || Number.isNaN(date.getTime())) throw new TypeError(`"${String(value)}" is not an ISO 8601 timestamp`);
  return date;
}

/** A moment: ISO 8601 in UTC with milliseconds (specification, "Conventions" 2). */
export const DateTime = new GraphQLScalarType<Date, string>({
  name: 'DateTime',
  description: 'A moment as ISO 8601 in UTC with milliseconds, e.g. `2026-01-31T08:00:00.000Z`.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  // Rows bring timestamps as text in this very form already.
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
  if (!file) throw new TypeError('A file is a `data:` URL or base64');
  return file;
}

/** A file that is given to the service. In JSON it is text; REST's forms hand over a stream, which no JSON can be mistaken for. */
export const Upload = new GraphQLScalarType<IncomingFile, never>({
  name: 'Upload',
  description:
    'A file: a `data:` URL, or its bytes in base64. JSON ends at 10 MB, so larger files travel by REST, as a part of `multipart/form-data`.',
  serialize: () => {
    throw new TypeError('A file is given, never answered');
  },
  parseValue: parseFile,
  parseLiteral: (node) => parseFile(node.kind === Kind.STRING ? node.value : undefined),
});

export { GraphQLJSON as Json, GraphQLJSONObject as JsonObject };
