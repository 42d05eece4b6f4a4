import type { Context } from '../../core/context.ts';
import type { UsageActorType, UsageEntityType } from '../../core/usage.ts';
import { CHARGED_ROWS, CHARGED_TYPES } from './charged-entities.ts';
import type { UsagePeriod } from './usage-period.ts';

interface Consumed {
  /** Exact to six decimals. */
  totalCredits: number;
  totalEvents: number;
}

/** Usage that is charged to one app, agent, assistant or job. Name and slug are null if it was deleted. */
export interface TopApp extends Consumed {
  entityId: string;
  entityType: UsageEntityType;
  name: string | null;
  slug: string | null;
}

/** Usage that one user or agent caused. The name is null if it was deleted. */
export interface TopUser extends Consumed {
  actor: string;
  actorType: UsageActorType;
  displayName: string | null;
  /** Id of a user; null for an agent. */
  userId: string | null;
}

/** Loads the apps, agents, assistants and jobs that used the most credits in a period. */
export function loadTopApps({ query, viewer }: Context, { start, end }: UsagePeriod, limit: number): Promise<TopApp[]> {
  return query<TopApp & Record<string, unknown>>({
    text: `
      select t.entity_id as "entityId", t.entity_type as "entityType", r.name, r.slug,
        t.credits::float8 as "totalCredits", t.events::float8 as "totalEvents"
      from (
        select entity_type, entity_id, sum(credits) as credits, sum(events) as events
        from dws.usage_day
        where tenant_id = $1 and day between $2 and $3 and entity_type = any($4)
        group by entity_type, entity_id
        order by credits desc, entity_type, entity_id
        limit $5
      ) t
      left join lateral (
        select r.name, r.slug
        from ${CHARGED_ROWS} r
        where r.tenant_id = $1 and r.id = t.entity_id and r.entity_type = t.entity_type
      ) r on true
      order by t.credits desc, t.entity_type, t.entity_id`,
    values: [viewer.tenantId, start, end, CHARGED_TYPES, limit],
  });
}

/** Loads the users and agents who caused the use of the most credits in a period. */
export function loadTopUsers(
  { query, viewer }: Context,
  { start, end }: UsagePeriod,
  limit: number,
): Promise<TopUser[]> {
  return query<TopUser & Record<string, unknown>>({
    text: `
      select t.actor, split_part(t.actor, ':', 1) as "actorType", u.id as "userId",
        coalesce(nullif(u.display_name, ''), u.username, a.name) as "displayName",
        t.credits::float8 as "totalCredits", t.events::float8 as "totalEvents"
      from (
        select actor, sum(credits) as credits, sum(events) as events
        from dws.usage_day
        where tenant_id = $1 and day between $2 and $3
        group by actor
        order by credits desc, actor
        limit $4
      ) t
      left join dws.app_user u
        on u.tenant_id = $1 and u.id = case when t.actor like 'user:%' then split_part(t.actor, ':', 2)::uuid end
      left join dws.agent a
        on a.tenant_id = $1 and a.id = case when t.actor like 'agent:%' then split_part(t.actor, ':', 2)::uuid end
      order by t.credits desc, t.actor`,
    values: [viewer.tenantId, start, end, limit],
  });
}
