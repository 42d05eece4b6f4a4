import { resource, value } from '../present.ts';
import { kind, post } from '../route.ts';

interface SavedQuery {
  id: string;
  datasourceId: string;
}

const FIELDS = `id tenant slug naturalId name description datasourceId language query
  params { name label dataType defaultValue required description } fields { name label type format }
  ownerId owner { id name type } folderId tags createdAt updatedAt
  permissions { read write edit run share delete assignTags changeOwner }`;

const links = ({ id, datasourceId }: SavedQuery) => ({
  self: `/queries/${id}`,
  'svc:datasource': `/datasources/${datasourceId}`,
  'svc:permissions': `/queries/${id}/permissions`,
});

const query = resource<SavedQuery>(FIELDS, links);

export default [
  ...kind('queries', 'query', query, { names: { one: 'savedQuery', many: 'savedQueries' } }),
  post('/queries/:id/_run', 'runSavedQuery', value('fields { name label type format } rows truncated duration')),
];
