import { conflict } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import { driveOf } from '../connection/integration-client.ts';
import { tokenSource } from '../connection/token-source.ts';
import type { OpenedDrive, SyncedLibrary } from './sync-run.ts';

interface ConnectedDrive extends Record<string, unknown> {
  connectionId: string;
  name: string;
  accountId: string | null;
  integrationId: string;
  type: string;
  apiUri: string;
  contentUri: string | null;
}

/** Opens the drive of a library by its connection, until the signal aborts. Throws CONFLICT without one. */
export async function openDrive(platform: Platform, library: SyncedLibrary, signal: AbortSignal): Promise<OpenedDrive> {
  const { id, tenantId, settings } = library;
  const [connected] = await platform.database.query<ConnectedDrive>(tenantId, {
    text: `
      select c.id as "connectionId", l.name, c.account->>'accountId' as "accountId", i.id as "integrationId", i.type,
        i.api_uri as "apiUri", i.content_uri as "contentUri"
      from dws.connection c
      join dws.integration i on i.id = c.integration_id
      join dws.library l on l.id = c.library_id
      where c.tenant_id = $1 and c.library_id = $2`,
    values: [tenantId, id],
  });
  if (!connected) throw conflict('The library is not connected');
  const { connectionId, name, accountId, integrationId, type, apiUri, contentUri } = connected;
  const { rootId, extensions, maxFileBytes } = settings;
  return {
    drive: driveOf(platform, connected),
    validFor: JSON.stringify([integrationId, type, apiUri, accountId, rootId, extensions, maxFileBytes]),
    access: {
      outbound: platform.outbound,
      apiUri,
      contentUri,
      token: tokenSource(platform, { id: connectionId, tenantId, target: `the library "${name}"` }),
      signal,
    },
  };
}
