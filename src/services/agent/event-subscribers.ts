import type { Query } from '../../core/database.ts';
import { levelAllows, type ResourcePermission } from '../../core/permissions.ts';
import { accessLevelInTransaction, findGrantee, type Grantee } from '../resource/access-level.ts';
import { isActive } from '../resource/active-user.ts';
import { eventsOf } from './event-bindings.ts';

/** An event of an app that was not dispatched. */
export interface WaitingEvent {
  id: string;
  tenantId: string;
  name: string;
  /** How many handlers and runs of agents led to it. */
  depth: number;
  appId: string;
  appOwnerId: string;
  /** Trace of the handler that emitted it. */
  traceparent: string | null;
}

/** Agents of one owner that an event starts: a pass starts all of them in one transaction. */
const MAX_AGENTS_OF_OWNER = 100;

/** An agent that runs on an event. */
export interface Subscriber {
  tenantId: string;
  eventId: string;
  /** Name of the event. */
  name: string;
  appId: string;
  agentId: string;
  ownerId: string;
  traceparent: string | null;
  /** Number of events on which the agent runs, and of their apps. */
  eventCount: number;
  appCount: number;
}

interface Candidate extends Subscriber, Record<string, unknown> {
  assistantId: string;
  assistantOwnerId: string;
}

/**
 * Returns the agents that wait for events. They are enabled and accepted, and their owner is enabled, not locked, may
 * read the app and may run the assistant. An agent waits for its own events, or for its assistant's events if it has
 * none. It does so only while the app has the owner that the agent has accepted. Of the agents of an owner that wait
 * for an event, only the oldest are returned.
 */
export async function findSubscribers(query: Query, events: readonly WaitingEvent[]): Promise<Subscriber[]> {
  const candidates = await query<Candidate>({
    text: `
      select "tenantId", "eventId", name, "appId", traceparent, "agentId", "ownerId", "assistantId", "assistantOwnerId",
        jsonb_array_length(events) as "eventCount",
        (select count(distinct w.e ->> 'appId')::int from jsonb_array_elements(events) w (e)) as "appCount"
      from (
        select e.tenant_id as "tenantId", e.id as "eventId", e.name, e.app_id as "appId", e.traceparent, a.id as "agentId",
          a.owner_id as "ownerId", s.id as "assistantId", s.owner_id as "assistantOwnerId", b.events,
          row_number() over (partition by e.id, a.owner_id order by a.id) as place
        from dws.app_event e
        join dws.app p on p.id = e.app_id
        join dws.agent a on a.tenant_id = e.tenant_id and a.enabled and a.accepted
          and a.accepted_apps ->> p.id::text = p.owner_id
        join dws.assistant s on s.id = a.assistant_id
        join dws.app_user u on u.id = a.owner_id and ${isActive('u')}
        cross join lateral (select ${eventsOf('a')} as events) b
        where e.id = any($1) and b.events @> jsonb_build_array(jsonb_build_object('appId', e.app_id, 'name', e.name))
      ) w
      where place <= ${MAX_AGENTS_OF_OWNER}
      order by "eventId", "agentId"`,
    values: [events.map(({ id }) => id)],
  });
  const byId = new Map(events.map((event) => [event.id, event]));
  const rights = new Rights(query);
  const subscribers: Subscriber[] = [];
  for (const candidate of candidates) {
    const { appId, appOwnerId } = byId.get(candidate.eventId)!;
    const { assistantId, assistantOwnerId } = candidate;
    const allowed =
      (await rights.may(candidate, 'app:read', { id: appId, ownerId: appOwnerId })) &&
      (await rights.may(candidate, 'assistant:run', { id: assistantId, ownerId: assistantOwnerId }));
    if (allowed) subscribers.push(candidate);
  }
  return subscribers;
}

/** The rights of the owners of agents, each read once. */
class Rights {
  readonly #query: Query;
  readonly #owners = new Map<string, Promise<Grantee | null>>();
  readonly #known = new Map<string, boolean>();

  constructor(query: Query) {
    this.#query = query;
  }

  async may(
    { tenantId, ownerId }: Subscriber,
    permission: ResourcePermission,
    resource: { id: string; ownerId: string },
  ): Promise<boolean> {
    const key = `${ownerId} ${permission} ${resource.id}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const tx = { query: this.#query };
    const owner = this.#owners.get(ownerId) ?? findGrantee(tx, tenantId, `user:${ownerId}`);
    this.#owners.set(ownerId, owner);
    const viewer = await owner;
    const allowed =
      viewer !== null && levelAllows(await accessLevelInTransaction({ viewer }, tx, resource), permission);
    this.#known.set(key, allowed);
    return allowed;
  }
}
