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

/** An example of the form that uploads a file. */
export const UPLOAD_EXAMPLE = {
  file: 'country;amount\nFrance;120,50\n',
  name: 'Order lines',
  config: { delimiter: ';', decimal: ',' },
};

export default [
  ...kind('datasources', 'datasource', datasource, {
    rows: {
      create: {
        example: {
          name: 'Shop',
          type: 'postgres',
          config: { host: 'db.example.com', port: 5432, database: 'shop', user: 'reader' },
          secrets: { password: 'secret' },
        },
      },
      update: { example: { description: 'The shop, one day old' } },
    },
  }),
  create('/datasources/_upload', 'uploadDatasource', datasource, { consumes: 'multipart', example: UPLOAD_EXAMPLE }),
  post(
    '/datasources/:id/_upload',
    'replaceDatasourceFile',
    operation(
      datasource,
      operationRecord,
      `${PROBLEMS} notRefreshed
      refreshed { id: datasetId records previousRecordCount duration fieldsAdded fieldsUpdated fieldsRemoved }`,
    ),
    {
      consumes: 'multipart',
      linked: ({ file }) => file !== null,
      example: { file: UPLOAD_EXAMPLE.file, refresh: true },
    },
  ),
  get('/datasource-drivers', 'datasourceDrivers', collection('datasource-driver', driver)),
  plain('POST', '/datasources/:id/_test', 'testDatasource'),
  get(
    '/datasources/:id/schema',
    'datasource.schema',
    value('tables { schema name type columns { name type nullable primaryKey } }'),
    { permission: 'datasource:run' },
  ),
  post(
    '/datasources/:id/_query',
    'queryDatasource',
    value('fields { name label type format } rows truncated duration'),
    {
      example: {
        query: 'select count(*) from order_items where amount > {{least}}',
        params: { least: 100 },
        limit: 10,
      },
    },
  ),
];
