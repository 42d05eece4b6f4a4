import { resource, type Presenter } from '../present.ts';
import { get, type Json } from '../route.ts';

const links = resource<Json>('', () => ({
  self: '',
  'svc:docs': '/docs',
  'svc:openapi': '/openapi.json',
  'svc:ai-audit': '/ai/audit',
  // `svc:usage` is the report of the tenant.
  'svc:my-usage': '/me/usage',
}));

/** Presents the links to all top-level resources. They follow from the table of rows. */
const root: Presenter = {
  on(...field) {
    const presentation = links.on(...field);
    return {
      ...presentation,
      shape: { $ref: '#/components/schemas/Root' },
      present: (_, request) => presentation.present({ graphql: '/graphql' }, request),
    };
  },
};

export default [
  get('', null, root, { id: 'getRoot', summary: 'Returns the entry point: links to all top-level resources' }),
];
