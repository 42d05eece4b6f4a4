import { resource, type Presenter } from '../present.ts';
import { get, type Json } from '../route.ts';

const links = resource<Json>('', () => ({ self: '', 'svc:docs': '/docs', 'svc:openapi': '/openapi.json' }));

const SHAPE = {
  type: 'object',
  properties: {
    graphql: { type: 'string', description: 'Path of the GraphQL API.' },
    _links: {
      type: 'object',
      properties: { curies: { $ref: '#/components/schemas/HalCuries' } },
      additionalProperties: { $ref: '#/components/schemas/HalLink' },
    },
  },
  required: ['graphql', '_links'],
};

/** Presents the links to all that is below no other resource. They follow from the table of rows. */
const root: Presenter = {
  on(...field) {
    const presentation = links.on(...field);
    return {
      ...presentation,
      shape: SHAPE,
      present: (_, request) => presentation.present({ graphql: '/graphql' }, request),
    };
  },
};

export default [get('', null, root)];
