import { collection, resource, value } from '../present.ts';
import { del, get, post, put, type Json } from '../route.ts';

interface Filter {
  id: string;
  datasetId: string;
}

const FIELDS = 'id name description datasetId ownerId criteria problem createdAt updatedAt permissions { edit delete }';
const links = ({ id, datasetId }: Filter) => ({
  self: `/datasets/${datasetId}/filters/${id}`,
  'svc:dataset': `/datasets/${datasetId}`,
  'svc:data': `/datasets/${datasetId}/data?filter=${id}`,
});
const whole = resource<Filter>(`${FIELDS} owner { id name type }`, links, { identity: ['ownerId', 'datasetId'] });

/** A user's form has an address, a team's what it is for (specification, "Owner principal"). */
const owner = value<{ owner: Json }>(
  'owner { id name type email description }',
  ({ owner: { email, description, ...common } }) =>
    common['type'] === 'team' ? { ...common, description } : { ...common, email },
  {
    type: 'object',
    properties: {
      id: { type: 'string' },
      name: { type: 'string' },
      type: { enum: ['user', 'team'] },
      email: { type: ['string', 'null'] },
      description: { type: ['string', 'null'] },
    },
    required: ['id', 'name', 'type'],
  },
);

const path = '/datasets/:datasetId/filters';

export default [
  get(path, 'dataset.filters', collection('filter', resource<Filter>(FIELDS, links))),
  post(path, 'createSavedFilter', whole),
  get(`${path}/:id`, 'dataset.filter', whole),
  put(`${path}/:id`, 'updateSavedFilter', whole),
  del(`${path}/:id`, 'deleteSavedFilter'),
  get(`${path}/:id/owner`, 'dataset.filter', owner),
  put(`${path}/:id/owner`, 'setSavedFilterOwner', value('id name ownerId owner { id name type email description }')),
  get(
    '/dataset-filters',
    'savedFilters',
    collection('filter', resource<Filter>(`${FIELDS} dataset { id name }`, links)),
  ),
];
