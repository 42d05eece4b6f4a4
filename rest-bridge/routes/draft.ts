import { del, get, post, put } from '../route.ts';
import { dataset, labelsOnly } from './dataset.ts';

const draft = '/datasets/:id/draft';

export default [
  post('/datasets/:id/_edit', 'editDataset', dataset),
  get(draft, 'dataset.draft', dataset),
  // Each draft is a new one: nothing of the former is kept.
  put(draft, 'updateDatasetDraft', dataset, { map: labelsOnly, identity: [] }),
  del(draft, 'deleteDatasetDraft'),
  post(`${draft}/_commit`, 'commitDatasetDraft', dataset),
];
