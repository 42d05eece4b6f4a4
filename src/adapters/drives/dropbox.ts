import type { Drive } from '../../core/drive.ts';
import { UNFINISHED } from './unfinished-drive.ts';

/** Dropbox, API version 2. */
export const DROPBOX: Drive = {
  ...UNFINISHED,
  id: 'dropbox',
  name: 'Dropbox',
  defaults: {
    authUri: 'https://www.dropbox.com/oauth2/authorize',
    tokenUri: 'https://api.dropboxapi.com/oauth2/token',
    // Tokens are revoked by a method of the API.
    revokeUri: null,
    apiUri: 'https://api.dropboxapi.com/2',
    contentUri: 'https://content.dropboxapi.com/2',
    scope: 'account_info.read files.metadata.read files.content.read',
    authParameters: { token_access_type: 'offline' },
    refreshTokenLifetimeMs: null,
  },
};
