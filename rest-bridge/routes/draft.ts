import { del, get, post, put, type Json } from '../route.ts';
import { dataset, labelsOnly } from './dataset.ts';

const draft = '/datasets/:id/draft';
/** Drafts and snapshots have no drafts. */
const linked = ({ isDraft, isSnapshot }: Json) => isDraft !== true && isSnapshot !== true;

export default [
  post('/datasets/:id/_edit', 'editDataset', dataset, { linked }),
  get(draft, 'dataset.draft', dataset, { linked }),
  // PUT creates a new draft, so that no key is an identity.
  put(draft, 'updateDatasetDraft', dataset, {
    map: labelsOnly,
    identity: [],
    linked,
    example: { flow: [{ type: 'filter', criteria: { amount: { $gt: 0 } } }] },
  }),
  del(draft, 'deleteDatasetDraft', undefined, { linked }),
  post(`${draft}/_commit`, 'commitDatasetDraft', dataset, { example: { clearAllUserSettings: false } }),
];
