import { collection, resource, value, type Presenter } from '../present.ts';
import { create, del, EXAMPLE_ID, get, put, type Json } from '../route.ts';

interface Reference {
  alias: string;
  reportId: string;
  datasetId: string;
}

const links = ({ alias, reportId, datasetId }: Reference) => ({
  self: `/reports/${reportId}/dataset-refs/${alias}`,
  'svc:report': `/reports/${reportId}`,
  'svc:dataset': `/datasets/${datasetId}`,
});

const reference = resource<Reference>(
  `id: alias alias reportId datasetId label filter chips { field label }
  snapshots { includeLatest type n snapshotDatasets { datasetId } }
  count countWithoutSnapshots overallCount problem
  dataset { id name fields { name label type } } createdAt updatedAt`,
  links,
  { identity: ['reportId', 'datasetId'] },
);

/** Response of a creation: a short form without links. `Location` leads to the full record. */
const created: Presenter = {
  on: (...field) => ({
    ...value('id: alias reportId datasetId alias label').on(...field),
    self: (record) => `/api${links(record as unknown as Reference).self}`,
  }),
};

/** Responses contain snapshots as objects, requests contain their ids. Lets a client send a response back. */
export const mapSnapshotIds = (body: Json): Json => {
  const { snapshots } = body;
  if (
    typeof snapshots !== 'object' ||
    snapshots === null ||
    !('snapshotDatasets' in snapshots) ||
    !Array.isArray(snapshots.snapshotDatasets)
  )
    return body;
  return {
    ...body,
    snapshots: { ...snapshots, snapshotDatasets: snapshots.snapshotDatasets.map(snapshotIdOf) },
  };
};

const snapshotIdOf = (item: unknown): unknown =>
  typeof item === 'object' && item !== null && 'datasetId' in item ? item.datasetId : item;

const path = '/reports/:id/dataset-refs';
const single = '/reports/:reportId/dataset-refs/:dataset';

export default [
  get(path, 'report.datasetReferences', collection('dataset-reference', reference)),
  create(path, 'createDatasetReference', created, {
    map: mapSnapshotIds,
    example: { reportId: EXAMPLE_ID, datasetId: EXAMPLE_ID, alias: 'lines', label: 'Order lines' },
  }),
  get(single, 'report.datasetReference', reference, { rename: { dataset: 'alias' } }),
  put(single, 'updateDatasetReference', reference, {
    rename: { dataset: 'alias' },
    map: mapSnapshotIds,
    example: { label: 'Lines', chips: [{ field: 'country', label: 'Country' }] },
  }),
  del(single, 'deleteDatasetReference', undefined, { rename: { dataset: 'alias' } }),
  get(
    '/reports/:id/data',
    'report.data',
    value('blocks { id: block type dataset data error { statusCode code message } }'),
  ),
];
