import { exportStream } from '../export-stream.ts';
import { collection, confirmation, resource, value } from '../present.ts';
import { create, del, EXAMPLE_ID, get, post, put } from '../route.ts';

interface Action {
  id: string;
  jobId: string;
}

const pathOf = ({ id, jobId }: Action) => `/jobs/${jobId}/actions/${id}`;

/** An action of a job. */
export const jobAction = resource<Action>(
  'id jobId type name order data file { filename contentType size } fileUrl createdAt updatedAt',
  (action) => ({ self: pathOf(action), 'svc:job': `/jobs/${action.jobId}` }),
  { identity: ['type', 'jobId', 'order'] },
);

const condition = resource<{ id: string; jobActionId: string }>(
  'id jobActionId type data createdAt updatedAt',
  ({ id, jobActionId }, { jobId }) => ({
    self: `/jobs/${jobId}/actions/${jobActionId}/job-action-run-conditions/${id}`,
    'svc:job-action': `/jobs/${jobId}/actions/${jobActionId}`,
  }),
  { identity: ['jobActionId'] },
);

const single = '/jobs/:jobId/actions/:jobActionId';
const conditions = `${single}/job-action-run-conditions`;

const PREVIEW_EXAMPLE = {
  preview: {
    method: 'POST',
    url: 'https://hooks.example.com/sales',
    headers: { 'Content-Type': 'application/json', Authorization: '••••', 'X-DWS-Delivery': null },
    body: '{"text":"The figures are ready"}',
  },
};

export default [
  get('/jobs/:id/actions', 'job.actions', collection('job-action', jobAction)),
  create('/jobs/:jobId/actions', 'createJobAction', jobAction, {
    example: {
      type: 'email',
      name: 'Mail the figures',
      data: {
        recipients: ['bob'],
        subject: 'Sales',
        body: 'The figures of yesterday are attached.',
        attach: [EXAMPLE_ID],
      },
    },
  }),
  get(single, 'job.action', jobAction),
  put(single, 'updateJobAction', jobAction, { example: { name: 'Mail the figures of yesterday' } }),
  del(single, 'deleteJobAction'),
  post(`${single}/_preview`, 'jobActionPreview', value('preview'), {
    id: 'previewJobAction',
    summary: 'Previews a run of an action',
    responseExample: PREVIEW_EXAMPLE,
  }),
  post('/jobs/:jobId/_job-action-order', 'setJobActionOrder', collection('job-action', jobAction), {
    query: ['limit', 'start'],
    example: { actions: [EXAMPLE_ID] },
  }),
  get(
    `${single}/action-file-contents`,
    'Subscription.jobActionFile',
    value('text encoding filename contentType sha256'),
    {
      handler: exportStream,
      produces: '*/*',
    },
  ),
  put(`${single}/action-file-contents`, 'setJobActionFile', confirmation, {
    consumes: 'file',
    example: { file: 'the bytes of a file' },
  }),
  get(conditions, 'job.action.conditions', collection('job-action-run-condition', condition)),
  create(conditions, 'createJobActionCondition', condition, {
    example: { type: 'criteria', data: { alias: 'lines', criteria: { amount: { $gt: 1000 } }, op: 'gte', count: 1 } },
  }),
  get(`${conditions}/:jobActionRunConditionId`, 'job.action.condition', condition),
  put(`${conditions}/:jobActionRunConditionId`, 'updateJobActionCondition', condition, { example: { type: 'always' } }),
  del(`${conditions}/:jobActionRunConditionId`, 'deleteJobActionCondition'),
];
