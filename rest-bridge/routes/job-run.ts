import { eventStream, type StreamedEvent } from '../event-stream.ts';
import { operation } from '../operation.ts';
import { collection, resource, value } from '../present.ts';
import { EXAMPLE_ID, get, post, type Json } from '../route.ts';

interface Run {
  id: string;
  jobId: string;
  userId: string | null;
  retryOfId: string | null;
}

const FIELDS = `id jobId trigger status success startedAt finishedAt duration nextAttemptAt dueAt isDraft userId retryOfId error
  progress { percent current total message }
  history { task { key } result { key success startedAt duration attempts error log } }`;

const jobRun = resource<Run>(FIELDS, ({ id, jobId, userId, retryOfId }) => ({
  self: `/jobs/${jobId}/history/${id}`,
  'svc:job': `/jobs/${jobId}`,
  'svc:user': userId ? `/users/${userId}` : undefined,
  'svc:retry-of': retryOfId ? `/jobs/${jobId}/history/${retryOfId}` : undefined,
}));

/** The result of a run as the specification defines it. */
const result = operation(value('success duration history { task { key } result { key success } }'));

const isUnfinished = ({ finishedAt }: Json) => finishedAt === null;

interface RunState {
  sequence: number;
  finishedAt: string | null;
}
const runEvent = value<RunState>(`${FIELDS} sequence`, ({ sequence, ...data }): StreamedEvent => ({
  id: sequence,
  data,
  isFinal: data.finishedAt !== null,
}));

const single = '/jobs/:jobId/history/:runId';

/** Runs of jobs: start, history, continuation, cancellation, progress. */
export const jobRuns = [
  post('/jobs/:id', 'runJob', result, { summary: 'Runs a job', example: { progress: 'nightly-sales' } }),
  get('/jobs/:id/history', 'job.runs', collection('job-history', jobRun)),
  get(single, 'job.run', jobRun),
  post(`${single}/_retry`, 'retryJobRun', result, {
    linked: ({ status }) => status === 'failed' || status === 'cancelled',
    example: { from: EXAMPLE_ID },
  }),
  post(`${single}/_cancel`, 'cancelJobRun', jobRun, { linked: isUnfinished }),
  get(`${single}/events`, 'Subscription.jobRun', runEvent, {
    id: 'followJobRun',
    summary: 'Follows a run of a job as server-sent events',
    handler: eventStream('run'),
    produces: 'text/event-stream',
  }),
];
