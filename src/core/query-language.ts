import { GraphQLScalarType } from 'graphql';
import { GraphQLJSON, GraphQLJSONObject } from 'graphql-scalars';

/*
 * The scalars in which clients write conditions on rows and steps of a flow. Their descriptions and JSON Schemas teach
 * the language in GraphQL and OpenAPI; docs/querying.md explains it at length.
 */

/** A scalar whose values are JSON of one shape. OpenAPI prints the schema as a component of the scalar's name. */
export interface JsonScalarExtensions {
  jsonSchema: Record<string, unknown>;
}

const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const CRITERIA = refTo('Criteria');
const OPERAND = { type: ['string', 'number', 'boolean', 'null'] };

/** The condition on one field: a value, or operators that must all be true. */
const FIELD_CONDITION = {
  anyOf: [
    OPERAND,
    {
      type: 'object',
      minProperties: 1,
      additionalProperties: false,
      properties: {
        $eq: { ...OPERAND, description: 'Equal. Null: the row has no value.' },
        $ne: { ...OPERAND, description: 'Not equal, or no value. Null: the row has a value.' },
        $gt: { type: ['string', 'number'], description: 'Greater, or later.' },
        $gte: { type: ['string', 'number'], description: 'Greater or equal.' },
        $lt: { type: ['string', 'number'], description: 'Less, or earlier.' },
        $lte: { type: ['string', 'number'], description: 'Less or equal.' },
        $in: { type: 'array', items: OPERAND, description: 'Equal to one of these. No row for an empty list.' },
        $nin: { type: 'array', items: OPERAND, description: 'Equal to none of these.' },
        $exists: { type: 'boolean', description: 'Whether the row has a value.' },
        $regex: { type: 'string', description: 'Matches this regular expression anywhere in the text.' },
        $options: { enum: ['i', ''], description: 'With `$regex`. `i` ignores the case of ASCII letters.' },
        $not: {
          type: 'object',
          additionalProperties: true,
          description: 'The condition with these operators is false, or the value is missing.',
        },
      },
    },
  ],
};

const OPERATORS = `
| Condition | Rows |
| --- | --- |
| \`{"country": "France"}\`, \`{"country": {"$eq": "France"}}\` | equal |
| \`{"country": {"$ne": "France"}}\` | not equal, or without a value |
| \`{"amount": {"$gt": 10, "$lte": 20}}\` | within bounds: \`$gt $gte $lt $lte\` |
| \`{"country": {"$in": ["France", "Spain"]}}\` | equal to one; \`$nin\`: to none |
| \`{"note": {"$exists": true}}\`, \`{"note": null}\` | with a value; without one |
| \`{"name": {"$regex": "^A.*son$", "$options": "i"}}\` | the text matches; \`i\` ignores case |
| \`{"amount": {"$not": {"$gt": 10}}}\` | the condition on the field is false |
| \`{"$and": […]}\`, \`{"$or": […]}\`, \`{"$not": {…}}\` | all match, at least one matches, it does not match |

Several keys must all be true. Dates are texts, e.g. \`{"ordered_at": {"$gte": "2026-01-31"}}\`; a date is midnight in UTC.`;

/** Conditions on rows. See docs/querying.md#criteria. */
export const Criteria = new GraphQLScalarType({
  ...GraphQLJSONObject.toConfig(),
  name: 'Criteria',
  specifiedByURL: null,
  description: `Conditions on rows, as a JSON object of fields and operators. \`{}\` matches all rows.\n${OPERATORS}`,
  extensions: {
    jsonSchema: {
      type: 'object',
      properties: {
        $and: { type: 'array', items: CRITERIA, description: 'Rows that match all of these.' },
        $or: { type: 'array', items: CRITERIA, description: 'Rows that match at least one of these.' },
        $not: { ...CRITERIA, description: 'Rows that do not match this.' },
      },
      // Generators of clients read these two, not `patternProperties`.
      additionalProperties: FIELD_CONDITION,
      propertyNames: { pattern: '^(?!\\$)|^\\$(and|or|not)$' },
      examples: [{ country: { $in: ['France', 'Spain'] }, amount: { $gte: 100 } }],
    },
  } satisfies JsonScalarExtensions,
});

function checkRowFilter(value: unknown): unknown {
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null || Array.isArray(value)))
    throw new TypeError('A filter must be an object or a string');
  return value;
}

/** Selects rows by criteria or by a saved filter. */
export const RowFilter = new GraphQLScalarType({
  ...GraphQLJSON.toConfig(),
  name: 'RowFilter',
  specifiedByURL: null,
  parseValue: checkRowFilter,
  parseLiteral: (node, variables) => checkRowFilter(GraphQLJSON.parseLiteral(node, variables)),
  description:
    'Selects rows: `Criteria` as a JSON object, e.g. `{"amount": {"$gte": 100}}`, or as JSON text. Any other text is ' +
    'the id of a saved filter.',
  extensions: {
    jsonSchema: {
      anyOf: [CRITERIA, { type: 'string', description: 'Criteria as JSON, or the id of a saved filter.' }],
    },
  } satisfies JsonScalarExtensions,
});

const FIELD_NAME = { type: 'string', minLength: 1, maxLength: 200 };
const step = (type: string, properties: Record<string, unknown>, description: string, required?: string[]) => ({
  type: 'object',
  description,
  properties: { type: { const: type }, ...properties },
  required: ['type', ...(required ?? Object.keys(properties))],
  additionalProperties: false,
});

/** One step of a dataset's flow. See docs/querying.md#flow. */
export const FlowStepScalar = new GraphQLScalarType({
  ...GraphQLJSONObject.toConfig(),
  name: 'FlowStep',
  specifiedByURL: null,
  description: `A step that changes the rows of a query before they are stored, as a JSON object:

| Step | Effect |
| --- | --- |
| \`{"type": "filter", "criteria": {"amount": {"$gt": 0}}}\` | keeps matching rows, by \`Criteria\` |
| \`{"type": "sort", "field": "amount", "order": "desc"}\` | sorts; \`asc\` by default |
| \`{"type": "limit", "n": 100}\` | keeps the first rows |
| \`{"type": "rename", "field": "amount", "to": "total"}\` | renames a field |
| \`{"type": "remove", "fields": ["note"]}\` | removes fields |
| \`{"type": "calculate", "field": "net", "expression": "amount / 1.19"}\` | adds or replaces a field |

Expressions have field names (in backquotes if unusual), literals, \`+ - * / %\`, comparisons, \`and or not\`, and the
functions \`abs round floor ceil lower upper trim length concat coalesce if year month day dateDiff\`, e.g.
\`if(amount > 100, upper(region), "small")\` and \`dateDiff("day", ordered_on, shipped_on)\`.`,
  extensions: {
    jsonSchema: {
      anyOf: [
        step('filter', { criteria: CRITERIA }, 'Keeps the rows that match.'),
        step('sort', { field: FIELD_NAME, order: { enum: ['asc', 'desc'], default: 'asc' } }, 'Sorts the rows.', [
          'field',
        ]),
        step('limit', { n: { type: 'integer', minimum: 0 } }, 'Keeps the first rows.'),
        step('rename', { field: FIELD_NAME, to: FIELD_NAME }, 'Renames a field.'),
        step('remove', { fields: { type: 'array', minItems: 1, items: FIELD_NAME } }, 'Removes fields.'),
        step('calculate', { field: FIELD_NAME, expression: { type: 'string' } }, 'Adds or replaces a field.'),
      ],
      examples: [{ type: 'calculate', field: 'net', expression: 'amount / 1.19' }],
    },
  } satisfies JsonScalarExtensions,
});

const JSON_SCALARS = new Set(['JSON', 'JSONObject', ...[Criteria, RowFilter, FlowStepScalar].map(({ name }) => name)]);

/** Returns whether a scalar accepts JSON whose shape GraphQL does not describe. */
export const isJsonScalar = (type: { name?: string }): boolean => JSON_SCALARS.has(type.name ?? '');
