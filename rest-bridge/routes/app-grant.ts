import { collection, resource } from '../present.ts';
import { del, get, put } from '../route.ts';

const grant = resource<{ appId: string }>('appId appName scopes hosts lastUsedAt createdAt updatedAt', ({ appId }) => ({
  self: `/me/app-grants/${appId}`,
  'svc:app': `/apps/${appId}`,
}));

export default [
  get('/me/app-grants', 'appGrants', collection('app-grant', grant)),
  put('/me/app-grants/:appId', 'setAppGrant', grant),
  del('/me/app-grants/:appId', 'deleteAppGrant'),
];
