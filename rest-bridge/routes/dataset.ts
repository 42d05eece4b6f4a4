import { EXPORT_MEDIA_TYPES, exportStream } from '../export-stream.ts';
import { createShareRows, ownedAspects, kind } from '../kind.ts';
import { CURIES } from '../links.ts';
import { operation, operationRecord } from '../operation.ts';
import { exportUrl } from '../page-links.ts';
import { collection, resource, value } from '../present.ts';
import { create, EXAMPLE_ID, get, post, type Json } from '../route.ts';
import { PROBLEMS, UPLOAD_EXAMPLE } from './datasource.ts';

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

const REFRESH_EXAMPLE = { progress: 'first load', params: { since: '2026-01-01' } };
const BENCHMARK_EXAMPLE = { config: { iterations: 5, warmup: 1 } };

/** Examples of the parameters of rows that select the dataset's rows. */
export const ROW_PARAMETERS = {
  q: 'rush delivery',
  sort: '-amount,country',
  fields: ['country', 'amount'],
  filter: '{"country": "France", "amount": {"$gte": 100}}',
};

/** Returns the example of a page of rows. */
const pageOfRows = (links: Record<string, { href: string }> = {}): Json => ({
  _links: { ...links, up: { href: '/api/datasets/order-lines' }, curies: CURIES },
  _embedded: {
    'svc:record': [
      { country: 'France', amount: 120.5 },
      { country: 'Spain', amount: 99 },
    ],
  },
  start: 0,
  count: 2,
  total: 4211,
  fields: [
    { name: 'country', label: 'Country', type: 'string', format: null },
    { name: 'amount', label: 'Amount in €', type: 'number', format: null },
  ],
  next: 'eyJ2IjoxfQ',
});
const PAGE_PATH = '/api/datasets/order-lines/data?limit=2';
const PAGE_EXAMPLE = pageOfRows({
  self: { href: PAGE_PATH },
  first: { href: PAGE_PATH },
  next: { href: `${PAGE_PATH}&after=eyJ2IjoxfQ` },
  'svc:export': { href: '/api/datasets/order-lines/export?format=json' },
});
const GROUPS_EXAMPLE = {
  columns: [
    { name: 'country', label: 'Country', type: 'string', format: null },
    { name: 'ordered_at', label: 'Ordered at', type: 'datetime', format: null },
    { name: 'amount', label: 'amount', type: 'number', format: null },
  ],
  rows: [
    ['France', '2026-01-01T00:00:00.000Z', 52310.5],
    ['Spain', '2026-02-01T00:00:00.000Z', 48211],
  ],
  total: 2,
  truncated: false,
};

export default [
  ...kind('datasets', 'dataset', dataset, {
    rows: {
      create: { map: labelsOnly, example: { name: 'Order lines', queryId: EXAMPLE_ID, refresh: true } },
      update: {
        map: labelsOnly,
        example: { description: 'One row for each line', fields: [{ name: 'amount', label: 'Amount in €' }] },
      },
    },
    aspects: ownedAspects({
      shares: createShareRows(
        'datasetFilterId restrictFields visibleFields',
        ({ datasetFilterId }, { id }) => ({
          'svc:filter': datasetFilterId ? `/datasets/${id}/filters/${datasetFilterId}` : undefined,
        }),
        { datasetFilterId: EXAMPLE_ID, restrictFields: true, visibleFields: ['country', 'amount'] },
      ),
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
    { summary: 'Explains the access of a user or team to a dataset' },
  ),
  create('/datasets/_upload', 'uploadDataset', operation(dataset, operationRecord, PROBLEMS), {
    consumes: 'multipart',
    example: UPLOAD_EXAMPLE,
  }),
  post(
    '/datasets/_previewUpload',
    'previewUpload',
    value(`config fields { name label type format } rows ${PROBLEMS}`),
    { consumes: 'multipart', example: UPLOAD_EXAMPLE },
  ),
  post('/datasets/:id/_run', 'runDataset', value('records duration success params'), {
    ...NOT_OF_SNAPSHOTS,
    example: { params: { since: '2026-01-01' } },
  }),
  post('/datasets/:id/_refresh', 'refreshDataset', refreshResult, { ...NOT_OF_SNAPSHOTS, example: REFRESH_EXAMPLE }),
  post('/datasets/:id/_refresh-internal', 'refreshDatasetInternal', refreshResult, {
    ...FOR_WORKERS,
    example: REFRESH_EXAMPLE,
  }),
  post('/datasets/:id/_previewRefresh', 'previewRefresh', previewResult, {
    ...NOT_OF_SNAPSHOTS,
    example: REFRESH_EXAMPLE,
  }),
  post('/datasets/:id/_promoteRefresh', 'promoteRefresh', refreshResult, {
    ...NOT_OF_SNAPSHOTS,
    example: { previewId: EXAMPLE_ID },
  }),
  post('/datasets/:id/_benchmark', 'benchmarkDataset', benchmarkResult, {
    ...NOT_OF_SNAPSHOTS,
    example: BENCHMARK_EXAMPLE,
  }),
  post('/datasets/:id/_benchmark-internal', 'benchmarkDatasetInternal', benchmarkResult, {
    ...FOR_WORKERS,
    example: BENCHMARK_EXAMPLE,
  }),
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
    {
      id: 'listDatasetRows',
      summary: 'Lists the rows of a dataset',
      revalidates: true,
      parameterExamples: ROW_PARAMETERS,
      responseExample: PAGE_EXAMPLE,
    },
  ),
  post('/datasets/:id/_search', 'dataset.data', collection('record', value(), PAGE_OF_ROWS), {
    id: 'searchDatasetRows',
    queryPath: '/datasets/:id/data',
    summary: 'Lists the rows of a dataset, with the query as body',
    example: { filter: { country: { $in: ['France', 'Spain'] }, amount: { $gte: 100 } }, sort: '-amount', limit: 50 },
    responseExample: pageOfRows(),
  }),
  get(
    '/datasets/:id/discover',
    'dataset.discover',
    value(
      `total fields { name type count missing distinct approximate min max avg stdDev top { value count }
      histogram { from to count } }`,
    ),
    {
      id: 'discoverDataset',
      summary: 'Returns statistics of the fields of a dataset',
      parameterExamples: ROW_PARAMETERS,
    },
  ),
  post(
    '/datasets/:id/_aggregate',
    'dataset.aggregate',
    value('columns { name label type format } rows total truncated'),
    {
      id: 'aggregateDataset',
      summary: 'Groups the rows of a dataset and measures them',
      example: {
        groupBy: [{ field: 'country' }, { field: 'ordered_at', interval: 'month' }],
        measures: [{ fn: 'sum', field: 'amount', as: 'amount' }],
        filter: { amount: { $gt: 0 } },
        sort: '-amount',
        limit: 20,
      },
      responseExample: GROUPS_EXAMPLE,
    },
  ),
  get('/datasets/:id/export', 'Subscription.datasetExport', value('text encoding filename contentType'), {
    id: 'exportDataset',
    handler: exportStream,
    produces: EXPORT_MEDIA_TYPES,
    parameterExamples: ROW_PARAMETERS,
  }),
  post('/dataset-field-report-access', 'setDatasetFieldSecurity', value('*'), {
    body: 'datasets',
    example: { [EXAMPLE_ID]: true },
  }),
];
