import { EXPORT_MEDIA_TYPES, exportStream } from '../export-stream.ts';
import { createShareRows, ownedAspects, kind } from '../kind.ts';
import { operation, operationRecord } from '../operation.ts';
import { exportUrl } from '../page-links.ts';
import { collection, resource, value } from '../present.ts';
import { create, get, plain, post, type Json } from '../route.ts';
import { PROBLEMS } from './datasource.ts';

/** The selection of a dataset's permissions. */
export const PERMISSIONS =
  '{ read write refresh copy share edit delete addVisual deleteVisual assignTags changeOwner }';

interface Dataset {
  id: string;
  parentId: string | null;
  isDraft: boolean;
  datasourceId: string | null;
}

export const dataset = resource<Dataset>(
  `id tenant slug naturalId name description datasourceId queryId query
  params { name label dataType defaultValue required description } flow settings fieldSecurityEnabled
  fields { name label type format description } records size sizeFormatted esIndex
  lastRefresh { at success duration error } dataUpdatedAt
  parentId isDraft stale isSnapshot snapshotDate hasUserSettings ownerId owner { id name type } folderId tags
  createdAt updatedAt
  permissions ${PERMISSIONS}`,
  ({ id, parentId, isDraft, datasourceId }) => ({
    self: `/datasets/${id}`,
    'svc:data': `/datasets/${id}/data`,
    'svc:permissions': `/datasets/${id}/permissions`,
    'svc:datasource': datasourceId ? `/datasources/${datasourceId}` : undefined,
    'svc:parent': parentId ? `/datasets/${parentId}` : undefined,
    'svc:commit-draft': isDraft ? `/datasets/${parentId}/draft/_commit` : undefined,
  }),
);

const FIELDS = 'fields { name label type format }';
const PAGE_OF_ROWS = { extra: `${FIELDS} next`, cursor: 'next' };
const refreshResult = operation(
  value(
    'id: datasetId records previousRecordCount duration fieldsAdded fieldsUpdated fieldsRemoved dataUpdatedAt success',
  ),
);
const previewResult = operation(
  value(
    `previewId records previousRecordCount fieldsAdded { name type } fieldsRemoved { name type }
    fieldsRetyped { name from to } breaks { kind id: key reportId name problem } hiddenBreaks expiresAt`,
  ),
);

const benchmarkResult = operation(
  value(`iterations warmup results { iteration duration records }
  statistics { min max avg median stdDev records avgRecordsPerSecond }
  config { iterations warmup includeDataTransfer includeIndexing }`),
);

/** Only superusers and workers may use these rows. */
const FOR_WORKERS = { linked: false };
/** Snapshots keep their rows. */
const NOT_OF_SNAPSHOTS = { linked: ({ isSnapshot }: Json) => isSnapshot !== true };

/** Removes derived keys from the fields of a body, so that clients can send back the fields of a response. */
export const labelsOnly = (body: Json): Json =>
  Array.isArray(body['fields']) ? { ...body, fields: body['fields'].map(toLabel) } : body;
const toLabel = (field: unknown): unknown => {
  if (typeof field !== 'object' || field === null) return field;
  const { type: _type, format: _format, ...label } = field as Json;
  return label;
};

export default [
  ...kind('datasets', 'dataset', dataset, {
    rows: { create: { map: labelsOnly }, update: { map: labelsOnly } },
    aspects: ownedAspects({
      shares: createShareRows('datasetFilterId restrictFields visibleFields', ({ datasetFilterId }, { id }) => ({
        'svc:filter': datasetFilterId ? `/datasets/${id}/filters/${datasetFilterId}` : undefined,
      })),
    }),
  }),
  get(
    '/datasets/:id/access',
    'dataset.access',
    value(
      `principal { id name type } level partial permissions ${PERMISSIONS}
      because { via level role principal { id name type } datasetFilterId filter visibleFields message }
      rowFilter allRows visibleFields hiddenFields`,
    ),
  ),
  create('/datasets/_upload', 'uploadDataset', operation(dataset, operationRecord, PROBLEMS), {
    consumes: 'multipart',
  }),
  post(
    '/datasets/_previewUpload',
    'previewUpload',
    value(`config fields { name label type format } rows ${PROBLEMS}`),
    { consumes: 'multipart' },
  ),
  post('/datasets/:id/_run', 'runDataset', value('records duration success params'), NOT_OF_SNAPSHOTS),
  post('/datasets/:id/_refresh', 'refreshDataset', refreshResult, NOT_OF_SNAPSHOTS),
  post('/datasets/:id/_refresh-internal', 'refreshDatasetInternal', refreshResult, FOR_WORKERS),
  post('/datasets/:id/_previewRefresh', 'previewRefresh', previewResult, NOT_OF_SNAPSHOTS),
  post('/datasets/:id/_promoteRefresh', 'promoteRefresh', refreshResult, NOT_OF_SNAPSHOTS),
  post('/datasets/:id/_benchmark', 'benchmarkDataset', benchmarkResult, NOT_OF_SNAPSHOTS),
  post('/datasets/:id/_benchmark-internal', 'benchmarkDatasetInternal', benchmarkResult, FOR_WORKERS),
  post(
    '/datasets/:id/_syncFields',
    'syncDatasetFields',
    value(`fieldsAdded fieldsUpdated fieldsRemoved ${FIELDS}`),
    NOT_OF_SNAPSHOTS,
  ),
  get(
    '/datasets/:id/data',
    'dataset.data',
    // HAL clients skip embedded rows, because rows have no link `self`. The export is plain JSON.
    collection('record', value(), { ...PAGE_OF_ROWS, links: { 'svc:export': exportUrl } }),
    { revalidates: true },
  ),
  post('/datasets/:id/_search', 'dataset.data', collection('record', value(), PAGE_OF_ROWS)),
  get(
    '/datasets/:id/discover',
    'dataset.discover',
    value(
      `total fields { name type count missing distinct approximate min max avg stdDev top { value count }
      histogram { from to count } }`,
    ),
  ),
  post(
    '/datasets/:id/_aggregate',
    'dataset.aggregate',
    value('columns { name label type format } rows total truncated'),
  ),
  get('/datasets/:id/export', 'Subscription.datasetExport', value('text encoding filename contentType'), {
    handler: exportStream,
    produces: EXPORT_MEDIA_TYPES,
  }),
  plain('POST', '/dataset-field-report-access', 'setDatasetFieldSecurity', '*', { body: 'datasets' }),
];
