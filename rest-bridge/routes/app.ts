import { fileContents } from '../file-contents.ts';
import { createTagRows, embeddedTag, kind, ownedAspects } from '../kind.ts';
import { operation } from '../operation.ts';
import { collection, resource, value } from '../present.ts';
import { del, get, post, put } from '../route.ts';

const app = resource<{ id: string }>(
  'id tenant slug naturalId name description env status deployedAt schemaName ' +
    'ownerId owner { id name type } folderId tags createdAt updatedAt ' +
    'permissions { read write edit run share delete assignTags changeOwner }',
  ({ id }) => ({ self: `/apps/${id}`, 'svc:permissions': `/apps/${id}/permissions` }),
);

/** Assignments of tags to an app have a record of their own, and a first assignment is 201. */
const appTags = createTagRows((_names, links) => {
  const assignment = resource('id appId: resourceId tagId createdAt updatedAt', links, {
    embed: embeddedTag,
    hidden: ['created'],
  });
  return {
    item: assignment,
    single: assignment,
    assigned: assignment,
    assignedOptions: { status: { oneOf: [200, 201], of: ({ created }) => (created === true ? 201 : 200) } },
  };
});

/** Encodes the parts of a path. Braces stay: they are those of link templates, and clients encode them. */
const encodePath = (path: string): string =>
  path
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll('%7B', '{').replaceAll('%7D', '}'))
    .join('/');

const appFile = resource<{ path: string; appId: string }>(
  'path contentType size sha256 updatedAt',
  ({ path, appId }) => ({ self: `/apps/${appId}/files/${encodePath(path)}`, 'svc:app': `/apps/${appId}` }),
  { hidden: ['created'] },
);

const release = resource<{ appId: string }>('id number active deployedAt deployedBy', ({ appId }) => ({
  'svc:app': `/apps/${appId}`,
}));

const route = '{ method path handlerPath config }';

const webhookCall = resource<{ id: string; appId: string; replayOf: string | null }>(
  'id method path route status duration peakMemory error at replayOf: replayOfId replayable requestId',
  ({ id, appId, replayOf }) => ({
    self: `/apps/${appId}/webhooks/calls/${id}`,
    'svc:app': `/apps/${appId}`,
    'svc:replay-of': replayOf ? `/apps/${appId}/webhooks/calls/${replayOf}` : undefined,
  }),
);

const logLine = resource<{ appId: string }>('id at level message route requestId', ({ appId }) => ({
  'svc:app': `/apps/${appId}`,
}));

/** Records of what apps do. */
const records = [
  get(
    '/apps/:id/webhooks',
    'app.webhooks',
    value(`routes ${route} stats { method path date count avgDuration errorCount }`),
    { permission: 'app:write' },
  ),
  get('/apps/:id/webhooks/calls', 'app.webhookCalls', collection('webhook-call', webhookCall), {
    permission: 'app:write',
  }),
  get('/apps/:appId/webhooks/calls/:callId', 'app.webhookCall', webhookCall, { permission: 'app:write' }),
  post('/apps/:appId/webhooks/calls/:callId/_replay', 'replayWebhookCall', webhookCall),
  get('/apps/:id/logs', 'app.logs', collection('app-log', logLine), { permission: 'app:write' }),
];

const file = '/apps/:appId/files/:path*';

export default [
  ...kind('apps', 'app', app, { aspects: ownedAspects({ tags: appTags }) }),
  get('/apps/:id/files', 'app.files', collection('app-file', appFile), { permission: 'app:write' }),
  get('/apps/:id/files/:path*', 'app.file', value('filename: path contentType sha256'), {
    handler: fileContents,
    produces: '*/*',
    permission: 'app:write',
  }),
  put(file, 'setAppFile', appFile, {
    consumes: 'file',
    status: { oneOf: [200, 201], of: ({ created }) => (created === true ? 201 : 200) },
  }),
  del(file, 'deleteAppFile'),
  post('/apps/:id/_migrate', 'migrateApp', operation(value('migrated total')), { query: ['dryRun'] }),
  get('/apps/:id/migrations', 'app.migrations', collection('migration', value('filename status appliedAt')), {
    permission: 'app:write',
  }),
  post(
    '/apps/:id/_deploy',
    'deployApp',
    operation(value(`releaseId migrated total routes ${route} webhooks ${route} deployedAt`)),
  ),
  get('/apps/:id/releases', 'app.releases', collection('release', release), { permission: 'app:write' }),
  post('/apps/:id/_rollback', 'rollbackApp', release, { status: 200 }),
  ...records,
];
