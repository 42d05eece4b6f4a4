import type { JsonSchema } from './openapi-types.ts';
import type { Presentation } from './present.ts';
import { relationsOf } from './relations.ts';

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
};

const LINK = { $ref: '#/components/schemas/HalLink' };
const CURIES = { $ref: '#/components/schemas/HalCuries' };

/** Returns the schema of `_links`. `names` are relations besides those of the presentation. */
export const linksSchema = (presentation: Presentation, names: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties: {
    ...Object.fromEntries([...names, ...relationsOf(presentation)].map((rel) => [rel, LINK])),
    ...(presentation.derived?.curies && { curies: CURIES }),
  },
});
