import { collection, resource, value } from '../present.ts';
import { del, get, post, put } from '../route.ts';

const client = resource<{ name: string }>('id name mode createdAt updatedAt', ({ name }) => ({
  self: `/clients/${name}`,
}));

const FIELDS = 'id documentId sha256 name firstSeenAt lastSeenAt createdAt';
const links = ({ id }: { id: string }, { name }: Readonly<Record<string, string>>) => ({
  self: `/clients/${name}/documents/${id}`,
  'svc:client': `/clients/${name}`,
});
const documents = collection('client-document', resource<{ id: string }>(FIELDS, links));

const fieldUsage = value('*');

/** Clients of GraphQL, their documents, modes and use of the schema. */
export default [
  get('/clients', 'apiClients', collection('client', client)),
  get('/clients/:name', 'apiClient', client),
  put('/clients/:name', 'setClientMode', client, { example: { mode: 'ENFORCE' } }),
  del('/clients/:name', 'deleteClient'),
  get('/clients/:name/documents', 'apiClient.documents', documents),
  post('/clients/:name/documents', 'uploadClientDocuments', value('added unchanged'), {
    body: 'manifest',
    example: { a3d2f6fcaeadd78a6c21a25bfdcd669b: 'query Me { me { username } }' },
  }),
  get('/clients/:name/documents/:id', 'apiClient.document', resource<{ id: string }>(`${FIELDS} text`, links)),
  del('/clients/:name/documents/:id', 'deleteClientDocument'),
  get('/field-usage', 'fieldUsage', collection('field-usage', fieldUsage)),
  post('/schema/_check', 'schemaCheck', value('*'), {
    id: 'checkSchema',
    example: { schema: 'type Query { me: User } type User { username: String! }' },
  }),
];
