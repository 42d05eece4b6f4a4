import { eventStream, type StreamedEvent } from '../event-stream.ts';
import { OPERATION_FIELDS, operationRecord } from '../operation.ts';
import { collection, value } from '../present.ts';
import { del, get } from '../route.ts';

interface ProgressRecord {
  sequence: number;
  finishedAt: string | null;
}

const progressEvent = value<ProgressRecord>(`${OPERATION_FIELDS} sequence`, ({ sequence, ...data }): StreamedEvent => ({
  id: sequence,
  data,
  isFinal: data.finishedAt !== null,
}));

export default [
  get('/progress', 'operations', collection('operation', operationRecord)),
  get('/progress/:id', 'operation', operationRecord),
  del('/progress/:id', 'cancelOperation', operationRecord, { status: 202 }),
  get('/progress/:id/events', 'Subscription.progress', progressEvent, {
    id: 'followOperation',
    summary: 'Follows a long operation as server-sent events',
    handler: eventStream('progress'),
    produces: 'text/event-stream',
  }),
];
