import type { Endpoint } from './bridge.ts';
import { CURIES } from './links.ts';
import { JOB_RESPONSES } from './openapi-examples-job.ts';
import { operationId } from './openapi-names.ts';

/* Examples of responses in the OpenAPI document, where the schema does not say enough. */

const ID = '01980a6e-3f4b-7c21-9d5e-8a1b2c3d4e5f';

const ROWS_PATH = '/api/datasets/order-lines/data?limit=2';

/** Returns a page of rows. */
const pageOfRows = (links: Record<string, { href: string }> = {}): object => ({
  _links: { ...links, up: { href: '/api/datasets/order-lines' }, curies: CURIES },
  _embedded: {
    'svc:record': [
      { country: 'France', amount: 120.5 },
      { country: 'Spain', amount: 99 },
    ],
  },
  start: 0,
  count: 2,
  total: 4211,
  fields: [
    { name: 'country', label: 'Country', type: 'string', format: null },
    { name: 'amount', label: 'Amount in €', type: 'number', format: null },
  ],
  next: 'eyJ2IjoxfQ',
});

/** Examples of responses by operation id. */
const RESPONSES: Record<string, unknown> = {
  listDatasetRows: pageOfRows({
    self: { href: ROWS_PATH },
    first: { href: ROWS_PATH },
    next: { href: `${ROWS_PATH}&after=eyJ2IjoxfQ` },
    'svc:export': { href: '/api/datasets/order-lines/export?format=json' },
  }),
  searchDatasetRows: pageOfRows(),
  aggregateDataset: {
    columns: [
      { name: 'country', label: 'Country', type: 'string', format: null },
      { name: 'ordered_at', label: 'Ordered at', type: 'datetime', format: null },
      { name: 'amount', label: 'amount', type: 'number', format: null },
    ],
    rows: [
      ['France', '2026-01-01T00:00:00.000Z', 52310.5],
      ['Spain', '2026-02-01T00:00:00.000Z', 48211],
    ],
    total: 2,
    truncated: false,
  },
  getDatasetOwner: {
    ownerId: ID,
    owner: { id: ID, name: 'Ann', type: 'user', email: null, description: null },
    _links: { 'svc:dataset': { href: '/api/datasets/order-lines' }, 'svc:owner': { href: `/api/users/${ID}` } },
  },
  getDatasetFavorite: { favorited: true },
  getSuperuser: { username: 'ann', superuser: false },
  getUsersContent: [
    {
      userId: ID,
      username: 'ann',
      displayName: 'Ann',
      counts: { datasource: 1, query: 2, dataset: 3, report: 1, app: 0 },
      total: 7,
    },
  ],
  getTopMenuTemplates: {
    templates: [
      {
        id: 'content',
        name: 'Content',
        items: [{ id: 'datasets', label: 'Datasets', path: '/api/datasets', icon: 'table' }],
      },
    ],
  },
  getUserGlobalPermissions: { permissions: ['datasets:create', 'reports:create'] },
  ...JOB_RESPONSES,
};

/** Returns an example of the response of an operation; undefined where the schema says enough. */
export const responseExample = (endpoint: Endpoint): unknown => RESPONSES[operationId(endpoint)];
