import type { OAuthClient } from '../../core/connection.ts';
import type { Platform } from '../../core/platform.ts';
import { oauthClientOf, type StoredIntegration } from './integration-client.ts';

/** Returns the client of a stored connection: the client of its integration, or the one that authorized a toolkit. */
export const clientOf = (
  platform: Pick<Platform, 'drives' | 'secrets'>,
  { integration, sealedClient }: { integration: StoredIntegration | null; sealedClient: string | null },
): OAuthClient =>
  integration
    ? oauthClientOf(platform, integration)
    : (JSON.parse(platform.secrets.open(sealedClient!, 'the client of the connection')) as OAuthClient);
