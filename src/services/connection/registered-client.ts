import type { Toolkit } from '../../../entities/toolkit.ts';
import type { RegisteredClient } from '../../core/mcp.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { AUTHORIZATION_LIFETIME_MS } from './authorization-state.ts';

type ToolkitKey = Pick<Toolkit, 'tenantId' | 'id' | 'name'>;

const open = ({ secrets }: Pick<Platform, 'secrets'>, sealed: string, { name }: ToolkitKey): RegisteredClient =>
  JSON.parse(secrets.open(sealed, `the registered client of toolkit "${name}"`)) as RegisteredClient;

/**
 * Returns the client that is registered for a toolkit; null without one. A client does not count if an authorization
 * was started with it and none was completed in time: the authorization server may no longer know it.
 */
export async function loadRegistration(
  platform: Pick<Platform, 'database' | 'secrets'>,
  toolkit: ToolkitKey,
): Promise<RegisteredClient | null> {
  const { tenantId, id } = toolkit;
  const [row] = await platform.database.query<{ sealed: string }>(tenantId, {
    text: `
      select sealed from dws.oauth_registration
      where tenant_id = $1 and toolkit_id = $2
        and (started_at is null or started_at > now() - $3 * interval '1 ms')`,
    values: [tenantId, id, AUTHORIZATION_LIFETIME_MS],
  });
  return row ? open(platform, row.sealed, toolkit) : null;
}

/** Stores the client that starts an authorization of a toolkit. `isKnown` means that it is already stored. */
export async function storeRegistration(
  { database, secrets }: Pick<Platform, 'database' | 'secrets'>,
  { tenantId, id }: ToolkitKey,
  client: RegisteredClient,
  isKnown: boolean,
): Promise<void> {
  await database.query(tenantId, {
    text: `
      insert into dws.oauth_registration as r (toolkit_id, tenant_id, sealed, started_at) values ($2, $1, $3, now())
      on conflict (toolkit_id) do update
      set sealed = excluded.sealed, started_at = case when $4 then coalesce(r.started_at, now()) else now() end`,
    values: [tenantId, id, secrets.seal(JSON.stringify(client)), isKnown],
  });
}

/**
 * Records that an authorization of a toolkit was completed, so that its client is used again. Another one may have been
 * stored since that authorization started; it stays unconfirmed.
 */
export async function confirmRegistration(
  platform: Pick<Platform, 'secrets'>,
  tx: Transaction,
  toolkit: ToolkitKey,
  clientId: string,
): Promise<void> {
  const { tenantId, id } = toolkit;
  const values = [tenantId, id];
  const [row] = await tx.query<{ sealed: string }>({
    text: `select sealed from dws.oauth_registration where tenant_id = $1 and toolkit_id = $2 for update`,
    values,
  });
  if (!row || open(platform, row.sealed, toolkit).clientId !== clientId) return;
  await tx.query({
    text: `update dws.oauth_registration set started_at = null where tenant_id = $1 and toolkit_id = $2`,
    values,
  });
}

/** Deletes the client of a toolkit, which is bound to one authorization server. */
export function forgetRegistration(tx: Transaction, { tenantId, id }: ToolkitKey): void {
  tx.execute({
    text: `delete from dws.oauth_registration where tenant_id = $1 and toolkit_id = $2`,
    values: [tenantId, id],
  });
}
