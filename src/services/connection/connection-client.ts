import type { OAuthClient } from '../../core/connection.ts';
import type { Platform } from '../../core/platform.ts';
import { oauthClientOf, type StoredIntegration } from '../library/library-client.ts';

/** Returns the client of a stored connection: that of its integration, or that with which a toolkit was authorized. */
export const clientOf = (
  platform: Pick<Platform, 'drives' | 'secrets'>,
  { integration, sealedClient }: { integration: StoredIntegration | null; sealedClient: string | null },
): OAuthClient =>
  integration
    ? oauthClientOf(platform, integration)
    : (JSON.parse(platform.secrets.open(sealedClient!, 'the client of the connection')) as OAuthClient);
