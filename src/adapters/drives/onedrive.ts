import type { Drive } from '../../core/drive.ts';
import { UNFINISHED } from './unfinished-drive.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** OneDrive by Microsoft Graph, version 1.0. */
export const ONEDRIVE: Drive = {
  ...UNFINISHED,
  id: 'onedrive',
  name: 'OneDrive',
  defaults: {
    authUri: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    tokenUri: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    revokeUri: null,
    apiUri: 'https://graph.microsoft.com/v1.0',
    contentUri: null,
    scope: 'offline_access User.Read Files.Read',
    authParameters: {},
    refreshTokenLifetimeMs: 90 * DAY_MS,
  },
};
