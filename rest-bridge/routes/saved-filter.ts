import { collection, resource, value } from '../present.ts';
import { del, EXAMPLE_ID, get, post, put, type Json } from '../route.ts';

interface SavedFilter {
  id: string;
  datasetId: string;
}

/** A new field of a saved filter is added here. */
const FIELDS = 'id name description datasetId ownerId criteria problem createdAt updatedAt permissions { edit delete }';
const links = ({ id, datasetId }: SavedFilter) => ({
  self: `/datasets/${datasetId}/filters/${id}`,
  'svc:dataset': `/datasets/${datasetId}`,
  'svc:data': `/datasets/${datasetId}/data?filter=${id}`,
});
const savedFilter = resource<SavedFilter>(`${FIELDS} owner { id: qualifiedId name type }`, links, {
  identity: ['ownerId', 'datasetId'],
});

/** A user has an email address, a team a description (docs/contract/resources.md#owners). */
const owner = value<{ owner: Json }>(
  'owner { id: qualifiedId name type email description }',
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
  get(path, 'dataset.filters', collection('filter', resource<SavedFilter>(FIELDS, links))),
  post(path, 'createSavedFilter', savedFilter, { example: { name: 'France', criteria: { country: 'France' } } }),
  get(`${path}/:id`, 'dataset.filter', savedFilter),
  put(`${path}/:id`, 'updateSavedFilter', savedFilter, {
    example: { criteria: { country: { $in: ['France', 'Monaco'] } } },
  }),
  del(`${path}/:id`, 'deleteSavedFilter'),
  get(`${path}/:id/owner`, 'dataset.filter', owner),
  put(
    `${path}/:id/owner`,
    'setSavedFilterOwner',
    value('id name ownerId owner { id: qualifiedId name type email description }'),
    { example: { ownerId: `team:${EXAMPLE_ID}` } },
  ),
  get(
    '/dataset-filters',
    'savedFilters',
    collection('filter', resource<SavedFilter>(`${FIELDS} dataset { id name }`, links)),
  ),
];
