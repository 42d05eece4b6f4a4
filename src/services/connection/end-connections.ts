import type { Context } from '../../core/context.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { storeActivities } from '../resource/activity.ts';
import { notify } from '../resource/notification.ts';
import { INTEGRATION_JSON, type StoredIntegration } from './integration-client.ts';
import { revokeConnection } from './revoke-connection.ts';

/**
 * Which connections end: the connection of a library or toolkit, all of an integration, or all that a user has
 * authorized.
 */
type ConnectionKey = { libraryId: string } | { toolkitId: string } | { integrationId: string } | { ownerId: string };

/** Maximum number of concurrent revocations of one change. */
const MAX_REVOCATIONS = 8;
/** Time for all revocations of one change. The caller waits for them. */
const REVOCATIONS_TIMEOUT_MS = 15_000;

/** A connection that has ended, with the data that its revocation needs. */
export interface EndedConnection extends Record<string, unknown> {
  id: string;
  tenantId: string;
  kind: 'library' | 'toolkit';
  resourceId: string;
  name: string;
  resourceOwnerId: string;
  sealedTokens: string;
  sealedClient: string | null;
  accountId: string | null;
  integration: StoredIntegration | null;
}

const COLUMNS = {
  libraryId: 'library_id',
  toolkitId: 'toolkit_id',
  integrationId: 'integration_id',
  ownerId: 'owner_id',
};

/**
 * Ends connections in the transaction of the change that causes it, and records it in the activity. Notifies the owner
 * of the library or toolkit if another user's authorization ends. Returns their number and the function that revokes
 * the tokens at the providers: call it after the commit; it never fails. Call this before the integration is changed:
 * its former addresses get the tokens. A connection of a toolkit has its own client, with the addresses.
 */
export async function endConnections(
  { platform, viewer }: Pick<Context, 'platform' | 'viewer'>,
  tx: Transaction,
  which: ConnectionKey,
): Promise<{ count: number; revoke: () => Promise<void> }> {
  const [[key, id]] = Object.entries(which) as [[keyof typeof COLUMNS, string]];
  const ended = await tx.query<EndedConnection>({
    text: `
      with ended as (delete from dws.connection where tenant_id = $1 and ${COLUMNS[key]} = $2 returning *)
      select e.id, e.tenant_id as "tenantId", case when e.library_id is null then 'toolkit' else 'library' end as kind,
        coalesce(l.id, t.id) as "resourceId", coalesce(l.name, t.name) as name,
        coalesce(l.owner_id, t.owner_id) as "resourceOwnerId", e.sealed_tokens as "sealedTokens",
        e.sealed_client as "sealedClient", e.account->>'accountId' as "accountId",
        case when i.id is not null then ${INTEGRATION_JSON} end as integration
      from ended e
      left join dws.library l on l.id = e.library_id
      left join dws.toolkit t on t.id = e.toolkit_id
      left join dws.integration i on i.id = e.integration_id`,
    values: [viewer.tenantId, id],
  });
  const events = ended.map(({ kind, resourceId, name, resourceOwnerId }) => ({
    kind,
    resource: { id: resourceId, name, ownerId: resourceOwnerId },
    event: 'disconnected' as const,
    message: `${viewer.username} disconnected ${name}`,
  }));
  storeActivities(tx, viewer, events);
  if (key === 'ownerId') {
    for (const { kind, resourceId, name, resourceOwnerId } of ended)
      await notify(tx, viewer.tenantId, [resourceOwnerId], {
        type: `${kind}.connection.ended`,
        message: `The ${kind} ${name} is no longer connected, because the user who authorized it was disabled or deleted`,
        resource: { kind, id: resourceId },
      });
  }
  return { count: ended.length, revoke: () => revokeAll(platform, ended) };
}

async function revokeAll(platform: Platform, ended: readonly EndedConnection[]): Promise<void> {
  const signal = AbortSignal.timeout(REVOCATIONS_TIMEOUT_MS);
  const waiting = ended.values();
  const revokeNext = async () => {
    for (const connection of waiting) await revokeConnection(platform, connection, signal);
  };
  await Promise.all(Array.from({ length: MAX_REVOCATIONS }, revokeNext));
}
