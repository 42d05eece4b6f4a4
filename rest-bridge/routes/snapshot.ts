import { operation } from '../operation.ts';
import { collection, resource, type Presenter } from '../present.ts';
import { del, get, post, put, type Json } from '../route.ts';
import { dataset, PERMISSIONS } from './dataset.ts';

interface Snapshot {
  id: string;
  parentId: string | null;
}

const links = ({ id, parentId }: Snapshot) => ({
  self: `/datasets/${parentId}/snapshots/${id}`,
  'svc:parent': `/datasets/${parentId}`,
  'svc:data': `/datasets/${id}/data`,
});
const FIELDS = `
  id tenant slug naturalId name description parentId isDraft isSnapshot snapshotDate datasourceId query
  params { name label dataType defaultValue required description } flow settings
  fields { name label type format description } records size sizeFormatted esIndex dataUpdatedAt
  ownerId owner { id name type } createdAt updatedAt
  permissions ${PERMISSIONS}`;
const snapshot = resource<Snapshot>(FIELDS, links, { identity: ['query', 'parentId', 'snapshotDate', 'ownerId'] });

/** Selections of the parts of a copy. Only the requested parts are printed. */
const PARTS = {
  visuals: 'visuals { id name description component config embedded pinned position }',
  filters: 'filters { id name description datasetId ownerId criteria }',
  sharing: `
    sharing: shares {
      datasetId: resourceId principalId principal { id name type email }
      accessLevel datasetFilterId restrictFields visibleFields createdAt updatedAt
    }`,
};
const datasetCopy: Presenter = {
  on(...field) {
    const presentation = dataset.on(...field);
    return {
      ...presentation,
      selection: `${presentation.selection} ${Object.values(PARTS).join(' ')}`,
      keys: [...presentation.keys, ...Object.keys(PARTS)],
      optional: Object.keys(PARTS),
      present(record, request) {
        const copy = presentation.present(record, request) as Json;
        for (const part in PARTS) if (request.variables[part] !== true) copy[part] = undefined;
        return copy;
      },
    };
  },
};

/** Drafts have neither copies nor snapshots. */
const isNoDraft = ({ isDraft }: Json) => isDraft !== true;

const path = '/datasets/:datasetId/snapshots';
const single = `${path}/:id`;

export default [
  post('/datasets/:id/copy', 'copyDataset', operation(datasetCopy), {
    query: ['data', 'visuals', 'filters', 'sharing'],
    linked: isNoDraft,
    example: { name: 'My order lines' },
  }),
  post(path, 'createSnapshot', operation(snapshot), { linked: isNoDraft, example: { name: 'End of January' } }),
  get('/datasets/:id/snapshot-list', 'dataset.snapshots', collection('snapshot', snapshot)),
  get(single, 'dataset.snapshot', snapshot),
  put(single, 'updateSnapshot', snapshot, { example: { description: 'As sent to the board' } }),
  del(single, 'deleteSnapshot'),
  post(`${single}/promote`, 'promoteSnapshot', operation(dataset), {
    example: { name: 'Order lines of January', preserveSnapshot: true },
  }),
];
