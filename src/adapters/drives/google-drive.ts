import type { Drive } from '../../core/drive.ts';
import { UNFINISHED } from './unfinished-drive.ts';

/** Google Drive, API version 3. */
export const GOOGLE_DRIVE: Drive = {
  ...UNFINISHED,
  id: 'google-drive',
  name: 'Google Drive',
  defaults: {
    authUri: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUri: 'https://oauth2.googleapis.com/token',
    revokeUri: 'https://oauth2.googleapis.com/revoke',
    apiUri: 'https://www.googleapis.com/drive/v3',
    contentUri: null,
    scope: 'https://www.googleapis.com/auth/drive.readonly',
    // Only with the consent page does Google issue a refresh token again.
    authParameters: { access_type: 'offline', prompt: 'consent' },
    refreshTokenLifetimeMs: null,
  },
};
