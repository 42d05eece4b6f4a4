import { kind } from '../kind.ts';
import { operation, operationRecord } from '../operation.ts';
import { collection, resource, value } from '../present.ts';
import { create, get, plain, post } from '../route.ts';

interface Datasource {
  id: string;
}

/** The selection of doubts about an uploaded file. */
export const PROBLEMS = 'problems { line column message }';

const FIELDS = `id tenant slug naturalId name description type config file { filename size contentType }
  ${PROBLEMS} embedded
  ownerId owner { id name type } folderId tags createdAt updatedAt
  permissions { read write edit run share delete assignTags changeOwner }`;

const links = ({ id }: Datasource) => ({
  self: `/datasources/${id}`,
  'svc:permissions': `/datasources/${id}/permissions`,
  'svc:schema': `/datasources/${id}/schema`,
});

const driver = value('id name defaultPort features configSchema secretsSchema');

export const datasource = resource<Datasource>(FIELDS, links, { identity: ['type'] });

export default [
  ...kind('datasources', 'datasource', datasource),
  create('/datasources/_upload', 'uploadDatasource', datasource, { consumes: 'multipart' }),
  post(
    '/datasources/:id/_upload',
    'replaceDatasourceFile',
    operation(
      datasource,
      operationRecord,
      `${PROBLEMS} notRefreshed
      refreshed { id: datasetId records previousRecordCount duration fieldsAdded fieldsUpdated fieldsRemoved }`,
    ),
    { consumes: 'multipart', linked: ({ file }) => file !== null },
  ),
  get('/datasource-drivers', 'datasourceDrivers', collection('datasource-driver', driver)),
  plain('POST', '/datasources/:id/_test', 'testDatasource'),
  plain(
    'GET',
    '/datasources/:id/schema',
    'datasource.schema',
    'tables { schema name type columns { name type nullable primaryKey } }',
    { permission: 'datasource:run' },
  ),
  post(
    '/datasources/:id/_query',
    'queryDatasource',
    value('fields { name label type format } rows truncated duration'),
  ),
];
