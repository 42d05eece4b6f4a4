import type { Drive } from '../../core/drive.ts';
import { UNFINISHED } from './unfinished-drive.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Box, API version 2.0. */
export const BOX: Drive = {
  ...UNFINISHED,
  id: 'box',
  name: 'Box',
  defaults: {
    authUri: 'https://account.box.com/api/oauth2/authorize',
    tokenUri: 'https://api.box.com/oauth2/token',
    revokeUri: 'https://api.box.com/oauth2/revoke',
    apiUri: 'https://api.box.com/2.0',
    contentUri: null,
    scope: 'root_readonly',
    authParameters: {},
    refreshTokenLifetimeMs: 60 * DAY_MS,
  },
};
