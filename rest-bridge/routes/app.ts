import { passToApp } from '../app-request.ts';
import { fileContents } from '../file-contents.ts';
import { createTagRows, embeddedTag, kind, ownedAspects } from '../kind.ts';
import { operation } from '../operation.ts';
import { collection, resource, value } from '../present.ts';
import { del, get, patch, post, put, type RouteOptions } from '../route.ts';
import { appRecords } from './app-record.ts';

const app = resource<{ id: string }>(
  'id tenant slug naturalId name description env status deployedAt schemaName accepted monthlyBudget ' +
    'access { scopes required hosts } ' +
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

/** Encodes the parts of a path. Braces stay: they belong to link templates, and clients encode them. */
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

const release = resource<{ appId: string }>(
  'id number active deployedAt deployedBy access { scopes required hosts }',
  ({ appId }) => ({
    'svc:app': `/apps/${appId}`,
  }),
);

const view = '/apps/:id/view/:path*';
const webhook = '/apps/:id/_hook/:path*';
const hook = '/hooks/:token/:path*';
const HANDLED: RouteOptions = { handler: passToApp, consumes: 'bytes', produces: '*/*', optionalRest: true };
const VIEW: RouteOptions = { ...HANDLED, runsApp: 'view', opensPage: true, permission: 'app:read' };
const WEBHOOK: RouteOptions = { ...HANDLED, runsApp: 'webhook', permission: 'public' };
const HOOK: RouteOptions = { ...WEBHOOK, runsApp: 'hook' };

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
    operation(
      value(
        'releaseId migrated total routes { method path handlerPath config } ' +
          'webhooks { method path handlerPath config } deployedAt',
      ),
    ),
  ),
  get('/apps/:id/releases', 'app.releases', collection('release', release), { permission: 'app:write' }),
  post('/apps/:id/_rollback', 'rollbackApp', release, { status: 200 }),
  ...appRecords,
  ...[get, post, put, patch, del].map((verb) => verb(view, null, undefined, VIEW)),
  ...[get, post, put].map((verb) => verb(webhook, null, undefined, WEBHOOK)),
  ...[get, post, put].map((verb) => verb(hook, null, undefined, HOOK)),
];
