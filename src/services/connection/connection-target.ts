import type { OwnedRow } from '../../../entities/owned-row.ts';
import type { ConnectionAccount, OAuthClient } from '../../core/connection.ts';

/** Names the library or toolkit that is connected. */
export interface TargetKey {
  kind: 'library' | 'toolkit';
  id: string;
}

/** The target of a connection, as it is stored now. */
export interface ConnectionTarget {
  resource: OwnedRow;
  /** Digest of the integration, or of the configuration with its secrets. A callback must find the one of its start. */
  configDigest: string;
  integrationId: string | null;
  /** The client of the integration. Null for toolkits, whose client is found when the authorization starts. */
  client: OAuthClient | null;
  /** Returns whose account it is. Null for toolkits. */
  readAccount: ((accessToken: string, signal: AbortSignal) => Promise<ConnectionAccount>) | null;
}
