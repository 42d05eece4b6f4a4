import type { Agent } from '../../../entities/agent.ts';
import type { AppEvent } from '../../../entities/app-event.ts';
import { APP } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { isUuid } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import type { ColumnType } from '../../core/read/model.ts';
import { loadUsedResource } from '../resource/load-resource.ts';

/*
 * An agent runs on events of single apps, because every app may emit any name. It accepts the owner that an app has when its
 * own owner binds it: another owner of the app suspends the binding (docs/contract/agents.md#events-of-agents).
 */

/** SQL of the events of the agent `agent`: its own events, or the events of its assistant. */
export const eventsOf = (agent: string): string => `
  case when ${agent}.events = '[]' then (
    select s.events from dws.assistant s where s.tenant_id = ${agent}.tenant_id and s.id = ${agent}.assistant_id
  ) else ${agent}.events end`;

/** An app whose events start agents. */
export interface BoundApp {
  appId: string;
  /** Principal: `user:<id>` or `team:<id>`; null if the app was deleted. */
  ownerId: string | null;
  /** Whether its events start no run before the owner of the agent accepts the app; null for an assistant. */
  suspended: boolean | null;
}

/** The column of a read model with the apps of `events`, as `BoundApp`s. `suspended` is SQL on the app `o` with the id `x.id`. */
const boundApps = (events: string, suspended: string): { sql: string; type: ColumnType } => ({
  sql: `(
    select coalesce(
      json_agg(json_build_object('appId', x.id, 'ownerId', o.owner_id, 'suspended', ${suspended}) order by x.place), '[]'
    )
    from (
      select e ->> 'appId' as id, min(n) as place
      from jsonb_array_elements(${events}) with ordinality w (e, n)
      group by 1
    ) x
    left join dws.app o on o.tenant_id = p.tenant_id and o.id = x.id::uuid)`,
  type: 'json',
});

/** The apps on whose events an agent runs. */
export const BOUND_APPS_OF_AGENT = boundApps(
  eventsOf('p'),
  'o.owner_id is null or p.accepted_apps ->> x.id is distinct from o.owner_id',
);

/** The apps of the events of an assistant. */
export const BOUND_APPS_OF_ASSISTANT = boundApps('p.events', 'null');

/** Returns a text that equal events have in common. */
export const printEvent = ({ appId, name }: AppEvent): string => `${appId} ${name}`;

/**
 * Returns events without duplicates, with the ids of their apps. Throws NOT_FOUND for an app that the caller cannot
 * read. `former` events stay even if the caller cannot read their apps or the apps were deleted.
 */
export async function resolveEvents(
  ctx: Context,
  tx: Transaction,
  events: readonly AppEvent[],
  former: readonly AppEvent[],
): Promise<AppEvent[]> {
  const known = new Set(former.map(printEvent));
  const ids = new Map<string, string>();
  const resolved = new Map<string, AppEvent>();
  for (const { appId: key, name } of events) {
    let event = { appId: isUuid(key) ? key.toLowerCase() : (ids.get(key) ?? key), name };
    if (!known.has(printEvent(event)) && ids.get(key) === undefined) {
      ids.set(key, (await loadUsedResource(ctx, tx, APP, key, 'app:read')).id);
      event = { appId: ids.get(key)!, name };
    }
    resolved.set(printEvent(event), event);
  }
  return [...resolved.values()];
}

/** Accepts the present owners of the apps on whose events an agent runs. The caller has locked the agent. */
export function acceptApps(tx: Transaction, { tenantId, id }: Pick<Agent, 'tenantId' | 'id'>): void {
  accept(tx, tenantId, 'a.id = $2', id);
}

/**
 * Accepts the present owners of the apps of an assistant, for the agents that the viewer decides on: the viewer's own
 * agents, for a superuser all. A handler of an app accepts nothing for its caller.
 */
export function acceptInheritedApps({ viewer }: Context, tx: Transaction, assistantId: string): void {
  if (viewer.authMethod === 'app') return;
  if (viewer.superuser) accept(tx, viewer.tenantId, 'a.assistant_id = $2', assistantId);
  else accept(tx, viewer.tenantId, 'a.assistant_id = $2 and a.owner_id = $3', assistantId, viewer.userId);
}

function accept(tx: Transaction, tenantId: string, condition: string, ...values: readonly (string | null)[]): void {
  tx.execute({
    text: `
      update dws.agent a
      set accepted_apps = (
        select coalesce(jsonb_object_agg(p.id, p.owner_id), '{}')
        from dws.app p
        where p.tenant_id = $1
          and p.id in (select (e ->> 'appId')::uuid from jsonb_array_elements(${eventsOf('a')}) e)
      )
      where a.tenant_id = $1 and a.id in (
        select a.id from dws.agent a where a.tenant_id = $1 and ${condition} order by a.id for update
      )`,
    values: [tenantId, ...values],
  });
}
