import { del, get, post, put } from '../route.ts';
import { dataset, labelsOnly } from './dataset.ts';

const draft = '/datasets/:id/draft';

export default [
  post('/datasets/:id/_edit', 'editDataset', dataset),
  get(draft, 'dataset.draft', dataset),
  // PUT creates a new draft, so that no key is an identity.
  put(draft, 'updateDatasetDraft', dataset, { map: labelsOnly, identity: [] }),
  del(draft, 'deleteDatasetDraft'),
  post(`${draft}/_commit`, 'commitDatasetDraft', dataset),
];
