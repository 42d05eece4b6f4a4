import type { JsonSchema } from './openapi-types.ts';
import type { Presentation } from './present.ts';
import { relationsOf } from './relations.ts';

const LINK = { $ref: '#/components/schemas/HalLink' };
const CURIES = { $ref: '#/components/schemas/HalCuries' };

/** Components of the links of responses. */
export const HAL_SCHEMAS: Record<string, JsonSchema> = {
  HalLink: {
    type: 'object',
    description: 'Link to a resource.',
    properties: {
      href: { type: 'string', description: 'Path of the resource, or a URI template of it.' },
      templated: { type: 'boolean', description: 'Whether `href` is a URI template (RFC 6570).' },
    },
    required: ['href'],
  },
  HalCuries: {
    type: 'array',
    description: 'Where the relations with a prefix are described.',
    items: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Prefix of relations.' },
        href: { type: 'string', description: 'URI template of the description of a relation.' },
        templated: { type: 'boolean', description: 'Always true.' },
      },
      required: ['name', 'href', 'templated'],
    },
  },
  PageLinks: {
    type: 'object',
    description: 'Links to the pages of a list, to its parent, and to the actions on it.',
    properties: {
      ...Object.fromEntries(['self', 'first', 'prev', 'next', 'last', 'up'].map((name) => [name, LINK])),
      curies: CURIES,
    },
    required: ['self', 'first', 'up'],
    additionalProperties: LINK,
  },
  ActionListLinks: {
    type: 'object',
    description: 'Links of a list that an action returns: to the parent of the action. Its pages have no links.',
    properties: { up: LINK, curies: CURIES },
    required: ['up'],
    additionalProperties: LINK,
  },
  Root: {
    type: 'object',
    description: 'Entry point of the REST API, from which all else can be reached by links.',
    properties: {
      graphql: { type: 'string', description: 'Path of the GraphQL API.' },
      _links: { type: 'object', properties: { curies: CURIES }, additionalProperties: LINK },
    },
    required: ['graphql', '_links'],
  },
};

/** Returns the schema of the `_links` of a record. */
export const linksSchema = (presentation: Presentation): JsonSchema => ({
  type: 'object',
  properties: {
    ...Object.fromEntries(relationsOf(presentation).map((rel) => [rel, LINK])),
    ...(presentation.derived?.curies && { curies: CURIES }),
  },
});
