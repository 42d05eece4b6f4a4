import { resource, value } from '../present.ts';
import { redirect } from '../redirect.ts';
import { del, get, post, type RouteOptions } from '../route.ts';

const FIELDS = `id ownerId integrationId status tokenExpiresAt refreshTokenExpiresAt lastAuthorizedAt createdAt updatedAt`;
const ofLibrary = resource(FIELDS, (_, { id }) => ({
  self: `/libraries/${id}/connection`,
  'svc:library': `/libraries/${id}`,
}));
const ofToolkit = resource(FIELDS, (_, { id }) => ({
  self: `/toolkits/${id}/connection`,
  'svc:toolkit': `/toolkits/${id}`,
}));

const CALLBACK: RouteOptions = {
  status: 302,
  handler: redirect,
  opensPage: true,
  queryText: 'parameters',
  linked: false,
};

export default [
  get('/libraries/:id/connection', 'library.connection', ofLibrary),
  del('/libraries/:id/connection', 'disconnectLibrary'),
  post('/libraries/:id/connection/_authorize', 'authorizeLibrary', value('url redirectUri')),
  get('/libraries/:id/account', 'library.account', value('email displayName accountId')),
  get('/toolkits/:id/connection', 'toolkit.connection', ofToolkit),
  del('/toolkits/:id/connection', 'disconnectToolkit'),
  post('/toolkits/:id/connection/_authorize', 'authorizeToolkit', value('url redirectUri')),
  get('/oauth/callback', 'Mutation.finishAuthorization', value(), { ...CALLBACK, fixed: { issuerDigest: null } }),
  get('/oauth/callback/:issuerDigest', 'Mutation.finishAuthorization', value(), {
    ...CALLBACK,
    id: 'finishAuthorizationOfToolkit',
    summary: 'Completes an authorization of a toolkit',
  }),
];
