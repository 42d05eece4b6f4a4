import { ERROR_CODE_LIST, ERROR_CODES } from '../src/core/errors.ts';
import { HAL_SCHEMAS } from './openapi-links.ts';
import type { JsonSchema } from './openapi-types.ts';

/** Content of a file. */
export const BYTES: JsonSchema = { type: 'string', format: 'binary' };
/** Rows in a JSON file. */
export const FILE_ROWS: JsonSchema = { type: 'array', items: { type: 'object', additionalProperties: true } };

/** Returns the schema of a number as the schema of an integer. */
export const asInteger = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  type: Array.isArray(schema['type']) ? ['integer', 'null'] : 'integer',
});

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
            line: { type: ['integer', 'null'], description: 'Line in the file that `path` names, from 1.' },
            column: { type: ['integer', 'null'], description: 'Column in that line, from 1.' },
          },
          required: ['path', 'message', 'code'],
        },
      },
      consent: {
        type: 'object',
        description: 'Rights that the caller has not granted an app. Only with the code `CONSENT_REQUIRED`.',
        properties: {
          appId: { type: 'string', format: 'uuid', description: 'Id of the app.' },
          scopes: { type: 'array', description: 'The scopes that it lacks.', items: { type: 'string' } },
          url: { type: 'string', description: 'URL of the page that asks the caller.' },
        },
        required: ['appId', 'scopes', 'url'],
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
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/ErrorResponse' },
      example: {
        statusCode: 400,
        error: 'Bad Request',
        message: 'limit must be a whole number from 1 to 1000',
        code: 'BAD_USER_INPUT',
        validation: [{ path: ['limit'], message: 'limit must be a whole number from 1 to 1000', code: 'invalid' }],
      },
    },
  },
};
