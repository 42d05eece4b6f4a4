import { collection, confirmation, resource, value } from '../present.ts';
import { del, EXAMPLE_ID, get, post } from '../route.ts';

interface Link {
  id: string;
  sourceDatasourceId: string;
  targetDatasourceId: string;
}

const link = resource<Link>(
  'id sourceDatasourceId targetDatasourceId type mappings createdAt updatedAt',
  ({ id, sourceDatasourceId, targetDatasourceId }) => ({
    self: `/datasources/${sourceDatasourceId}/links/${id}`,
    'svc:datasource': `/datasources/${sourceDatasourceId}`,
    'svc:target': `/datasources/${targetDatasourceId}`,
  }),
);

export default [
  get('/datasources/:id/links', 'datasource.links', collection('link', link)),
  post('/datasources/:id/links', 'createDatasourceLink', link, {
    example: { targetDatasourceId: EXAMPLE_ID, type: 'lookup', mappings: { customer_id: 'id' } },
  }),
  get('/datasources/:id/links/:linkId', 'datasource.link', link),
  del('/datasources/:id/links/:linkId', 'deleteDatasourceLink', confirmation),
  get('/link-types', 'linkTypes', collection('link-type', value('id name description'))),
];
