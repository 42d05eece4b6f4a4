import { exportStream } from '../export-stream.ts';
import { collection, confirmation, resource, value } from '../present.ts';
import { create, del, get, post, put } from '../route.ts';

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

export default [
  get('/jobs/:id/actions', 'job.actions', collection('job-action', jobAction)),
  create('/jobs/:jobId/actions', 'createJobAction', jobAction),
  get(single, 'job.action', jobAction),
  put(single, 'updateJobAction', jobAction),
  del(single, 'deleteJobAction'),
  post(`${single}/_preview`, 'jobActionPreview', value('preview')),
  post('/jobs/:jobId/_job-action-order', 'setJobActionOrder', collection('job-action', jobAction), {
    query: ['limit', 'start'],
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
  put(`${single}/action-file-contents`, 'setJobActionFile', confirmation, { consumes: 'file' }),
  get(conditions, 'job.action.conditions', collection('job-action-run-condition', condition)),
  create(conditions, 'createJobActionCondition', condition),
  get(`${conditions}/:jobActionRunConditionId`, 'job.action.condition', condition),
  put(`${conditions}/:jobActionRunConditionId`, 'updateJobActionCondition', condition),
  del(`${conditions}/:jobActionRunConditionId`, 'deleteJobActionCondition'),
];
