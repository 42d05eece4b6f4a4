import { collection, resource, value } from '../present.ts';
import { get, post, type RouteOptions } from '../route.ts';

const call = resource<{ id: string; appId: string; replayOf: string | null }>(
  'id method path route status duration peakMemory error at replayOf: replayOfId replayable requestId',
  ({ id, appId, replayOf }) => ({
    self: `/apps/${appId}/webhooks/calls/${id}`,
    'svc:app': `/apps/${appId}`,
    'svc:replay-of': replayOf ? `/apps/${appId}/webhooks/calls/${replayOf}` : undefined,
  }),
);

const line = resource<{ appId: string }>('id at level message route requestId', ({ appId }) => ({
  'svc:app': `/apps/${appId}`,
}));

const webhooks = value(
  'routes { method path handlerPath config } ' +
    'stats { method path date count avgDuration errorCount refused { reason count } } ' +
    'hookToken { token url formerUntil }',
);

const single = '/apps/:appId/webhooks/calls/:callId';
const FOR_AUTHORS: RouteOptions = { permission: 'app:write' };

/** Records of apps: calls of their webhooks, and logs. */
export const appRecords = [
  get('/apps/:id/webhooks', 'app.webhooks', webhooks, FOR_AUTHORS),
  post('/apps/:id/_rotate-hook-token', 'rotateHookToken', value('token url formerUntil'), {
    status: 200,
    example: { keepOldSeconds: 86_400 },
  }),
  get('/apps/:id/webhooks/calls', 'app.webhookCalls', collection('webhook-call', call), FOR_AUTHORS),
  get(single, 'app.webhookCall', call, FOR_AUTHORS),
  post(`${single}/_replay`, 'replayWebhookCall', call),
  get('/apps/:id/logs', 'app.logs', collection('app-log', line), FOR_AUTHORS),
];
