const ID = '01980a6e-3f4b-7c21-9d5e-8a1b2c3d4e5f';
const CRITERIA = { alias: 'lines', criteria: { amount: { $gt: 1000 } }, op: 'gte', count: 1 };

/** Examples of the request bodies of jobs, by operation id. */
export const JOB_BODIES: Record<string, unknown> = {
  createJob: {
    name: 'Nightly sales',
    type: 'dataset-refresh',
    interval: '30 2 * * MON-FRI',
    intervalType: 'cron',
    timezone: 'Europe/Berlin',
    enabled: true,
    datasets: { lines: { datasetId: ID, snapshots: { when: 'before' } } },
  },
  updateJob: { enabled: false, notes: 'Paused while the shop moves' },
  setJobOwner: { ownerId: `team:${ID}` },
  shareJob: { accessLevel: 1 },
  createJobDataset: { alias: 'lines', datasetId: 'order-lines' },
  updateJobDataset: { snapshots: { when: 'after' } },
  createJobAction: {
    type: 'email',
    name: 'Mail the figures',
    data: { recipients: ['bob'], subject: 'Sales', body: 'The figures of yesterday are attached.', attach: [ID] },
  },
  updateJobAction: { name: 'Mail the figures of yesterday' },
  setJobActionOrder: { actions: [ID] },
  setJobActionFile: { file: 'the bytes of a file' },
  runJob: { progress: 'nightly-sales' },
  retryJobRun: { from: ID },
  createJobActionCondition: { type: 'criteria', data: CRITERIA },
  updateJobActionCondition: { type: 'always' },
};

/** Examples of the responses of jobs, by operation id. */
export const JOB_RESPONSES: Record<string, unknown> = {
  previewJobAction: {
    preview: {
      method: 'POST',
      url: 'https://hooks.example.com/sales',
      headers: { 'Content-Type': 'application/json', Authorization: '••••', 'X-DWS-Delivery': null },
      body: '{"text":"The figures are ready"}',
    },
  },
};
