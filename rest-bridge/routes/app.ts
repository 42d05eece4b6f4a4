import { capitalize } from '../../src/core/capitalize.ts';
import { passToApp } from '../app-request.ts';
import { fileContents } from '../file-contents.ts';
import { createTagRows, embeddedTag, kind, ownedAspects } from '../kind.ts';
import { operation } from '../operation.ts';
import { collection, resource, value } from '../present.ts';
import { del, EXAMPLE_ID, get, post, put, type Method, type RouteOptions, type Row } from '../route.ts';
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

/** Which handlers of apps a row runs, and how the OpenAPI document describes it. */
interface HandlerRows {
  runsApp: NonNullable<RouteOptions['runsApp']>;
  permission: string;
  /** Name of the called handler in summaries, e.g. `webhook of an app`. */
  callee: string;
  description: string;
  opensPage?: boolean;
}

/** Creates the rows that pass requests to handlers of apps, one for each method. */
const handlerRows = (methods: readonly Method[], path: string, { callee, ...options }: HandlerRows): Row[] =>
  methods.map((method) => ({
    method,
    path,
    field: null,
    options: {
      ...options,
      id: `${method.toLowerCase()}App${capitalize(options.runsApp)}`,
      summary: `Calls a ${method} ${callee}`,
      handler: passToApp,
      consumes: 'bytes',
      produces: '*/*',
      optionalRest: true,
      parameterExamples: { id: 'default:order-inbox', path: 'orders', token: 'q3Zc1n0vT8mYkLw2RtXb5A' },
      ...(method !== 'GET' && method !== 'DELETE' && { example: '{"number": "A-1042", "status": "open"}' }),
    },
  }));

const VIEW: HandlerRows = {
  runsApp: 'view',
  permission: 'app:read',
  opensPage: true,
  callee: 'route of an app',
  description: 'The handler in the folder `server` of the app decides about query, body and response.',
};
const WEBHOOK: HandlerRows = {
  runsApp: 'webhook',
  permission: 'public',
  callee: 'webhook of an app',
  description:
    'The handler in the folder `webhooks` of the app decides about query, body and response. It acts as the owner of the ' +
    'app; credentials of the request are ignored. `id` is the UUID or the natural id of the app.',
};
const HOOK: HandlerRows = {
  runsApp: 'hook',
  permission: 'public',
  callee: 'webhook of an app by its token',
  description:
    'Calls a webhook of the app with this hook token. Such calls count neither to the address of the caller nor to the ' +
    'limit of other calls, and may call routes with `config.token`.',
};

const file = '/apps/:appId/files/:path*';

export default [
  ...kind('apps', 'app', app, {
    aspects: ownedAspects({ tags: appTags }),
    rows: {
      create: { example: { name: 'Returns', description: 'Handles returned goods' } },
      update: { example: { description: 'Handles returned and broken goods' } },
    },
  }),
  get('/apps/:id/files', 'app.files', collection('app-file', appFile), { permission: 'app:write' }),
  get('/apps/:id/files/:path*', 'app.file', value('filename: path contentType sha256'), {
    handler: fileContents,
    produces: '*/*',
    permission: 'app:write',
  }),
  put(file, 'setAppFile', appFile, {
    consumes: 'file',
    status: { oneOf: [200, 201], of: ({ created }) => (created === true ? 201 : 200) },
    example: { file: 'create table orders (id text primary key, status text not null);' },
  }),
  del(file, 'deleteAppFile'),
  post('/apps/:id/_migrate', 'migrateApp', operation(value('migrated total')), {
    query: ['dryRun'],
    example: { progress: 'first tables' },
  }),
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
    { example: { progress: 'first release' } },
  ),
  get('/apps/:id/releases', 'app.releases', collection('release', release), { permission: 'app:write' }),
  post('/apps/:id/_rollback', 'rollbackApp', release, { status: 200, example: { releaseId: EXAMPLE_ID } }),
  ...appRecords,
  ...handlerRows(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], '/apps/:id/view/:path*', VIEW),
  ...handlerRows(['GET', 'POST', 'PUT'], '/apps/:id/_hook/:path*', WEBHOOK),
  ...handlerRows(['GET', 'POST', 'PUT'], '/hooks/:token/:path*', HOOK),
];
