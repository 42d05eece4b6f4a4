import type { Query } from '../../core/database.ts';
import { levelAllows, type ResourcePermission } from '../../core/permissions.ts';
import { accessLevelInTransaction, findGrantee, type Grantee } from '../resource/access-level.ts';
import { isActive } from '../resource/active-user.ts';

/** An event of an app that was not dispatched. */
export interface WaitingEvent {
  id: string;
  tenantId: string;
  name: string;
  /** How many handlers and runs of agents led to it. */
  depth: number;
  appId: string;
  appOwnerId: string;
}

/** Agents of one owner that an event starts: a pass starts all of them in one transaction. */
const MAX_AGENTS_OF_OWNER = 100;

/** An agent that runs on an event. */
export interface Subscriber {
  tenantId: string;
  eventId: string;
  agentId: string;
  ownerId: string;
}

interface Candidate extends Subscriber, Record<string, unknown> {
  assistantId: string;
  assistantOwnerId: string;
}

/**
 * Returns the agents that wait for events: enabled and accepted ones, whose owner is enabled and not locked, may read the
 * app and may run the assistant. An agent waits for its own events, or for those of its assistant if it has none. Of the agents of an owner
 * that wait for an event, only the oldest are returned.
 */
export async function findSubscribers(query: Query, events: readonly WaitingEvent[]): Promise<Subscriber[]> {
  const candidates = await query<Candidate>({
    text: `
      select "tenantId", "eventId", "agentId", "ownerId", "assistantId", "assistantOwnerId"
      from (
        select e.tenant_id as "tenantId", e.id as "eventId", a.id as "agentId", a.owner_id as "ownerId",
          s.id as "assistantId", s.owner_id as "assistantOwnerId",
          row_number() over (partition by e.id, a.owner_id order by a.id) as place
        from dws.app_event e
        join dws.agent a on a.tenant_id = e.tenant_id and a.enabled and a.accepted
        join dws.assistant s on s.id = a.assistant_id
        join dws.app_user u on u.id = a.owner_id and ${isActive('u')}
        where e.id = any($1) and case when a.events = '[]' then s.events else a.events end ? e.name
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
