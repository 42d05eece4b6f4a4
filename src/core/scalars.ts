import { GraphQLScalarType, Kind } from 'graphql';
import { GraphQLJSON, GraphQLJSONObject } from 'graphql-scalars';

const ISO = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?$/;

function parse(value: unknown): Date {
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
  parseValue: parse,
  parseLiteral: (node) => parse(node.kind === Kind.STRING ? node.value : undefined),
});

export { GraphQLJSON as Json, GraphQLJSONObject as JsonObject };
