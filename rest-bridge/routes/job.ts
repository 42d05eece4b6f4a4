import { kind } from '../kind.ts';
import { collection, resource, value } from '../present.ts';
import { create, del, EXAMPLE_ID, get, post, put, type Json } from '../route.ts';
import { mapSnapshotIds } from './dataset-reference.ts';
import { jobAction } from './job-action.ts';
import { jobRuns } from './job-run.ts';

interface Job {
  id: string;
  editingId: string | null;
}

const FIELDS = `id tenant slug naturalId name description type ownerId owner { id name type } folderId tags
  interval intervalType timezone enabled accepted nextRunAt startOn endOn lockedAt heartbeat data notes source sourceId editingId
  monthlyBudget createdAt updatedAt permissions { read write edit run share delete assignTags changeOwner }`;

const links = ({ id, editingId }: Job) => ({
  self: `/jobs/${id}`,
  'svc:permissions': `/jobs/${id}/permissions`,
  'svc:job-driver': '/job-drivers',
  'svc:job-datasets': `/jobs/${id}/datasets`,
  'svc:job-actions': `/jobs/${id}/actions`,
  'svc:job-history': `/jobs/${id}/history`,
  'svc:original': editingId ? `/jobs/${editingId}` : undefined,
  'svc:commit-draft': editingId ? `/jobs/${id}/_commit` : undefined,
});
const IDENTITY = { identity: ['type', 'source', 'sourceId', 'editingId'] };

interface JobDataset {
  alias: string;
  jobId: string;
  datasetId: string;
}
const datasetLinks = ({ alias, jobId, datasetId }: JobDataset) => ({
  self: `/jobs/${jobId}/datasets/${alias}`,
  'svc:job': `/jobs/${jobId}`,
  'svc:dataset': `/datasets/${datasetId}`,
});
const jobDataset = resource<JobDataset>(
  'alias jobId datasetId snapshots { when snapshotDatasets { datasetId } } createdAt updatedAt',
  datasetLinks,
  { identity: ['jobId'] },
);

const job = resource<Job>(FIELDS, links, {
  ...IDENTITY,
  embed: {
    'svc:job-dataset': { field: 'datasets', as: jobDataset },
    'svc:job-action': { field: 'actions', as: jobAction },
  },
});
const created = resource<{ id: string }>('id name type ownerId timezone enabled', ({ id }) => ({
  self: `/jobs/${id}`,
}));

interface ListedJob extends Json {
  owner: { name: string };
  shares: object[];
}
const jobsList = value<ListedJob[]>(
  `id name type enabled ownerId owner { name } naturalId tags shares { principalId accessLevel }
  permissions { edit write delete share }`,
  (jobs) => jobs.map(({ owner, shares, ...listed }) => ({ ...listed, ownerName: owner.name, sharing: shares })),
  {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        id: { type: 'string', format: 'uuid' },
        name: { type: 'string' },
        type: { type: 'string' },
        enabled: { type: 'boolean' },
        ownerId: { type: 'string' },
        ownerName: { type: ['string', 'null'] },
        naturalId: { type: 'string' },
        tags: { type: 'array', items: { type: 'string' } },
        sharing: {
          type: 'array',
          items: {
            type: 'object',
            properties: { principalId: { type: 'string' }, accessLevel: { type: 'integer' } },
          },
        },
        permissions: { type: 'object', additionalProperties: { type: 'boolean' } },
      },
    },
  },
);

const draft = resource<{ id: string; editingId: string }>(
  'id name editingId',
  ({ id, editingId }) => ({
    self: `/jobs/${id}`,
    'svc:original': `/jobs/${editingId}`,
    'svc:commit-draft': `/jobs/${id}/_commit`,
  }),
  { hidden: ['created'] },
);
const isDraft = ({ editingId }: Json) => editingId != null;

const datasets = '/jobs/:jobId/datasets';
const byAlias = `${datasets}/:alias`;

export default [
  ...kind('jobs', 'job', job, {
    item: resource<Job>(FIELDS, links),
    without: ['create'],
    rows: { update: { example: { enabled: false, notes: 'Paused while the shop moves' } } },
  }),
  create('/jobs', 'createJob', created, {
    keyed: { datasets: { key: 'alias', short: 'datasetId' } },
    example: {
      name: 'Nightly sales',
      type: 'dataset-refresh',
      interval: '30 2 * * MON-FRI',
      intervalType: 'cron',
      timezone: 'Europe/Berlin',
      enabled: true,
      datasets: { lines: { datasetId: EXAMPLE_ID, snapshots: { when: 'before' } } },
    },
  }),
  get('/jobs-list', 'jobsList', jobsList),
  post('/jobs/:id/_edit', 'editJob', draft, {
    status: { oneOf: [200, 201], of: ({ created: isNew }) => (isNew === true ? 201 : 200) },
    linked: (record) => !isDraft(record),
  }),
  post('/jobs/:id/_commit', 'commitJobDraft', job, { linked: isDraft }),
  get('/jobs/:id/datasets', 'job.datasets', collection('job-dataset', jobDataset)),
  create(datasets, 'createJobDataset', jobDataset, {
    map: mapSnapshotIds,
    example: { alias: 'lines', datasetId: 'order-lines' },
  }),
  get(byAlias, 'job.dataset', jobDataset),
  put(byAlias, 'updateJobDataset', jobDataset, { map: mapSnapshotIds, example: { snapshots: { when: 'after' } } }),
  del(byAlias, 'deleteJobDataset'),
  ...jobRuns,
  get('/job-drivers', 'jobDrivers', collection('job-driver', value('id name description schema'))),
  get('/job-action-drivers', 'jobActionDrivers', collection('job-action-driver', value('id name description schema'))),
];
