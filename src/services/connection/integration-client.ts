import type { OAuthClient } from '../../core/connection.ts';
import type { Drive } from '../../core/drive.ts';
import { conflict } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';

/** An integration as SQL selects it by `INTEGRATION_JSON`. */
export interface StoredIntegration extends Record<string, unknown> {
  id: string;
  name: string;
  type: string;
  clientId: string;
  sealedClientSecret: string | null;
  authUri: string;
  tokenUri: string;
  revokeUri: string | null;
  apiUri: string;
  contentUri: string | null;
  scope: string;
}

/** SQL that selects the integration `i` as one JSON value. */
export const INTEGRATION_JSON = `jsonb_build_object('id', i.id, 'name', i.name, 'type', i.type, 'clientId', i.client_id,
  'sealedClientSecret', i.sealed_client_secret, 'authUri', i.auth_uri, 'tokenUri', i.token_uri,
  'revokeUri', i.revoke_uri, 'apiUri', i.api_uri, 'contentUri', i.content_uri, 'scope', i.scope)`;

/** Returns the drive of an integration. Throws CONFLICT for a type that this version does not know. */
export function driveOf({ drives }: Pick<Platform, 'drives'>, { type }: Pick<StoredIntegration, 'type'>): Drive {
  const drive = drives.get(type);
  if (!drive) throw conflict(`The type "${type}" of the integration is not available`);
  return drive;
}

/** Returns where and as which client the libraries of an integration ask for tokens. Throws like `driveOf`. */
export function oauthClientOf(platform: Pick<Platform, 'drives' | 'secrets'>, row: StoredIntegration): OAuthClient {
  const { authParameters, refreshTokenLifetimeMs } = driveOf(platform, row).defaults;
  const { name, clientId, sealedClientSecret, authUri, tokenUri, revokeUri, scope } = row;
  const clientSecret =
    sealedClientSecret === null
      ? null
      : platform.secrets.open(sealedClientSecret, `the client secret of integration "${name}"`);
  const addresses = { authUri, tokenUri, revokeUri, scope };
  return { clientId, clientSecret, ...addresses, authParameters, tokenParameters: {}, refreshTokenLifetimeMs };
}
