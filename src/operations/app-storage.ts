import type { WorkspaceKey } from '../core/app-workspace.ts';
import { SqlFailure } from '../core/app-workspace.ts';
import type { Platform } from '../core/platform.ts';
import { teamPayerSql } from '../services/usage/team-payer.ts';
import { meter } from '../services/usage/usage-meter.ts';

interface UnmeteredApp extends WorkspaceKey {
  /** The user who is the actor of the usage: for a team a member, without one a superuser. */
  payer: string;
}

/** The apps with a workspace whose storage of the day `$1` is not in the ledger. */
const UNMETERED = `
  select a.tenant_id as "tenantId", a.id as "appId", p.payer
  from dws.app a
  cross join lateral (
    select coalesce(
      case when a.owner_id like 'user:%' then substr(a.owner_id, 6)::uuid end,
      ${teamPayerSql('a.tenant_id', 'substr(a.owner_id, 6)::uuid')}
    ) as payer
  ) p
  where a.schema_name is not null and p.payer is not null and not exists (
    select from dws.usage_event e where e.tenant_id = a.tenant_id and e.key = 'app_storage:' || a.id || ':' || $1
  )
  order by a.tenant_id, a.id`;

/** Adds the bytes of the tables of each app to the usage ledger, once a UTC day. */
export async function meterAppStorage(platform: Platform, now: Date, signal: AbortSignal): Promise<void> {
  const day = now.toISOString().slice(0, 10);
  const apps = await platform.system.query<UnmeteredApp & Record<string, unknown>>({ text: UNMETERED, values: [day] });
  for (const app of apps) {
    const bytes = await loadSize(platform, app, signal);
    if (bytes === undefined) continue;
    const { tenantId, appId, payer } = app;
    await platform.database.transaction(tenantId, async (tx) =>
      meter({ tenantId }, tx, [
        {
          key: `app_storage:${appId}:${day}`,
          resource: 'app_storage',
          quantity: String(bytes),
          actor: `user:${payer}`,
          entityType: 'app',
          entityId: appId,
          occurredAt: now,
        },
      ]),
    );
  }
}

/** Returns the bytes of an app; undefined if they cannot be measured now. The next pass tries again. */
async function loadSize(
  { workspaces, log }: Platform,
  { tenantId, appId }: UnmeteredApp,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    return await workspaces.sizeOf({ tenantId, appId }, signal);
  } catch (error) {
    signal.throwIfAborted();
    // A restore may have left it without a workspace.
    if (error instanceof SqlFailure && error.code === '3F000') return 0;
    log.warn({ err: error, app: appId }, 'Could not measure the storage of an app');
    return undefined;
  }
}
