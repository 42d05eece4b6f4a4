import type { Query } from '../../core/database.ts';
import { newId } from '../../core/id.ts';
import type { Platform } from '../../core/platform.ts';
import { MAX_CHAIN } from './agent-chain.ts';
import { MAX_RUNS_PER_HOUR } from './agent-run-start.ts';
import { findSubscribers, type Subscriber, type WaitingEvent } from './event-subscribers.ts';

/** Maximum number of events in one transaction, in all and of one tenant. */
const MAX_EVENTS = 100;
const MAX_EVENTS_OF_TENANT = 20;

/** A run that an event starts. */
interface EventRun extends Subscriber {
  id: string;
  operationId: string;
}

/**
 * Starts the agents that wait for events of apps, of all tenants in turn, at most `MAX_EVENTS` events. One transaction marks
 * the events and queues the runs, so that several processes, and one that dies, start each agent once for an event. Returns
 * the number of events. See docs/contract.md#events-of-agents.
 */
export function dispatchEvents(platform: Platform): Promise<number> {
  return platform.system.transaction(async (query) => {
    const events = await takeEvents(query);
    if (events.length === 0) return 0;
    const deep = events.filter(({ depth }) => depth >= MAX_CHAIN);
    for (const { id, name } of deep) platform.log.info({ event: id, name }, 'An event ends a chain of agents');
    const subscribers = await findSubscribers(
      query,
      events.filter(({ depth }) => depth < MAX_CHAIN),
    );
    const { started, refused } = await applyRate(query, subscribers);
    if (started.length > 0) await startRuns(platform, query, started);
    if (refused.length > 0) await recordRefused(query, refused);
    return events.length;
  });
}

/** Locks waiting events, the oldest of each tenant first, and marks them as dispatched. */
async function takeEvents(query: Query): Promise<WaitingEvent[]> {
  const events = await query<WaitingEvent & Record<string, unknown>>({
    text: `
      select e.id, e.tenant_id as "tenantId", e.name, e.depth, a.id as "appId", a.owner_id as "appOwnerId"
      from dws.app_event e
      join dws.app a on a.id = e.app_id
      where e.dispatched_at is null and e.id in (
        select id
        from (
          select id, row_number() over (partition by tenant_id order by id) as place
          from dws.app_event
          where dispatched_at is null
        ) w
        where place <= ${MAX_EVENTS_OF_TENANT}
        order by place, id
        limit ${MAX_EVENTS}
      )
      order by e.id
      for update of e skip locked`,
    values: [],
  });
  await query({
    text: `update dws.app_event set dispatched_at = now() where id = any($1)`,
    values: [events.map(({ id }) => id)],
  });
  return events;
}

/** Locks the agents. Returns those whose run is within the rate of the agent as `started`, and others as `refused`. */
async function applyRate(
  query: Query,
  subscribers: readonly Subscriber[],
): Promise<{ started: Subscriber[]; refused: Subscriber[] }> {
  const ids = [...new Set(subscribers.map(({ agentId }) => agentId))];
  if (ids.length === 0) return { started: [], refused: [] };
  await query({ text: `select id from dws.agent where id = any($1) order by id for update`, values: [ids] });
  const counts = await query<{ agentId: string; runs: number }>({
    text: `
      select agent_id as "agentId", count(*)::int as runs
      from dws.agent_run
      where agent_id = any($1) and created_at > now() - interval '1 hour' and not refused
      group by agent_id`,
    values: [ids],
  });
  const runs = new Map(counts.map((row) => [row.agentId, row.runs]));
  const started: Subscriber[] = [];
  const refused: Subscriber[] = [];
  for (const subscriber of subscribers) {
    const count = runs.get(subscriber.agentId) ?? 0;
    (count < MAX_RUNS_PER_HOUR ? started : refused).push(subscriber);
    runs.set(subscriber.agentId, count + 1);
  }
  return { started, refused };
}

/** Inserts runs and their operations, and sends the operations to the queue. */
async function startRuns({ queue }: Platform, query: Query, subscribers: readonly Subscriber[]): Promise<void> {
  const runs: EventRun[] = subscribers.map((subscriber) => ({ ...subscriber, id: newId(), operationId: newId() }));
  await query({
    text: `
      insert into dws.agent_run (id, tenant_id, agent_id, trigger, event_id, event_name, depth, payload, operation_id)
      select n.id, e.tenant_id, n.agent_id, 'event', e.id, e.name, e.depth + 1, e.payload, n.operation_id
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) n (id, agent_id, event_id, operation_id)
      join dws.app_event e on e.id = n.event_id`,
    values: [
      runs.map(({ id }) => id),
      runs.map(({ agentId }) => agentId),
      runs.map(({ eventId }) => eventId),
      runs.map(({ operationId }) => operationId),
    ],
  });
  await query({
    text: `
      insert into dws.operation (
        id, work_id, tenant_id, user_id, operation, resource_kind, resource_id, input, status, unit
      )
      select n.id, n.id, n.tenant_id, n.owner_id, 'agent.run', 'agent', n.agent_id,
        jsonb_build_object('agentRunId', n.run_id, 'ownerId', n.owner_id), 'queued', 'steps'
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[]) n (id, tenant_id, owner_id, agent_id, run_id)`,
    values: [
      runs.map(({ operationId }) => operationId),
      runs.map(({ tenantId }) => tenantId),
      runs.map(({ ownerId }) => ownerId),
      runs.map(({ agentId }) => agentId),
      runs.map(({ id }) => id),
    ],
  });
  const work = runs.map(({ operationId, tenantId, ownerId }) => ({
    workId: operationId,
    tenantId,
    userId: ownerId,
    operation: 'agent.run' as const,
  }));
  await queue.send(work, { query });
}

/** Records that events were left out: one failed run in an hour for each agent, which stands for all of them. */
async function recordRefused(query: Query, refused: readonly Subscriber[]): Promise<void> {
  const first = new Map(refused.toReversed().map((subscriber) => [subscriber.agentId, subscriber]));
  await query({
    text: `
      insert into dws.agent_run (
        id, tenant_id, agent_id, trigger, event_id, event_name, depth, payload, status, finished_at, error, refused
      )
      select n.id, e.tenant_id, n.agent_id, 'event', e.id, e.name, e.depth + 1, e.payload, 'failed', now(), $4, true
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) n (id, agent_id, event_id)
      join dws.app_event e on e.id = n.event_id
      where not exists (
        select from dws.agent_run r
        where r.agent_id = n.agent_id and r.refused and r.created_at > now() - interval '1 hour'
      )`,
    values: [
      [...first.values()].map(() => newId()),
      [...first.keys()],
      [...first.values()].map(({ eventId }) => eventId),
      `The agent ran ${MAX_RUNS_PER_HOUR} times in an hour: this event and others of the next hour start no run`,
    ],
  });
}
