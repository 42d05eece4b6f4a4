import { EXPORT_MEDIA_TYPES, exportStream } from '../export-stream.ts';
import { collection, resource, value } from '../present.ts';
import { get } from '../route.ts';

const event = resource<{ userId: string | null }>(
  'id createdAt userId username action kind resourceId outcome channel address tokenId sessionId requestId ' +
    'parameters rows bytes',
  ({ userId }) => ({ 'svc:user': userId ? `/users/${userId}` : undefined }),
);

export default [
  get('/audit', 'auditEvents', collection('audit-event', event)),
  get('/audit/export', 'Subscription.auditExport', value('text encoding filename contentType'), {
    id: 'exportAuditEvents',
    handler: exportStream,
    produces: EXPORT_MEDIA_TYPES,
  }),
];
