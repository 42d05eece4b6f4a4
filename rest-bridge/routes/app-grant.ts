import { collection, resource } from '../present.ts';
import { del, EXAMPLE_ID, get, put } from '../route.ts';

const grant = resource<{ appId: string }>('appId appName scopes hosts lastUsedAt createdAt updatedAt', ({ appId }) => ({
  self: `/me/app-grants/${appId}`,
  'svc:app': `/apps/${appId}`,
}));

export default [
  get('/me/app-grants', 'appGrants', collection('app-grant', grant)),
  put('/me/app-grants/:appId', 'setAppGrant', grant, { example: { scopes: ['read'], releaseId: EXAMPLE_ID } }),
  del('/me/app-grants/:appId', 'deleteAppGrant'),
];
