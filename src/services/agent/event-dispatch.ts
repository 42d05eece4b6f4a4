import type { Query } from '../../core/database.ts';
import { newId } from '../../core/id.ts';
import type { Platform } from '../../core/platform.ts';
import { queueOperations } from '../operation/operation-queue.ts';
import { MAX_CHAIN_DEPTH } from './agent-chain.ts';
import { MAX_RUNS_OF_OWNER, MAX_RUNS_PER_HOUR, rateKeyOf } from './agent-run-start.ts';
import { findSubscribers, type Subscriber, type WaitingEvent } from './event-subscribers.ts';

/** Maximum number of events in one transaction, in all and of one tenant. */
const MAX_EVENTS = 100;
const MAX_EVENTS_OF_TENANT = 20;
/** Maximum number of runs in an hour by one of several apps, or of several events of one app, that start an agent. */
const MAX_RUNS_OF_SOURCE = MAX_RUNS_PER_HOUR / 2;

/** A run that an event starts. */
interface EventRun extends Subscriber {
  id: string;
  operationId: string;
}

/**
 * Starts the agents that wait for events of apps, of all tenants and owners of apps in turn, at most `MAX_EVENTS` events.
 * One transaction marks the events and queues the runs, so that several processes, and one that dies, start each agent
 * once for an event. Returns the number of events. See docs/contract/agents.md#events-of-agents.
 */
export function dispatchEvents(platform: Platform): Promise<number> {
  return platform.system.transaction(async (query) => {
    const events = await takeEvents(query);
    if (events.length === 0) return 0;
    const deep = events.filter(({ depth }) => depth >= MAX_CHAIN_DEPTH);
    for (const { id, name } of deep) platform.log.info({ event: id, name }, 'An event ends a chain of agents');
    const subscribers = await findSubscribers(
      query,
      events.filter(({ depth }) => depth < MAX_CHAIN_DEPTH),
    );
    const { started, refused } = await applyRate(query, subscribers);
    if (started.length > 0) await startRuns(platform, query, started);
    if (refused.length > 0) await recordRefused(query, refused);
    return events.length;
  });
}

/** Locks waiting events, the oldest of each owner and tenant first, and marks them as dispatched. */
async function takeEvents(query: Query): Promise<WaitingEvent[]> {
  const events = await query<WaitingEvent & Record<string, unknown>>({
    text: `
      select e.id, e.tenant_id as "tenantId", e.name, e.depth, a.id as "appId", a.owner_id as "appOwnerId",
        e.traceparent
      from dws.app_event e
      join dws.app a on a.id = e.app_id
      where e.dispatched_at is null and e.id in (
        select id
        from (
          select id, row_number() over (partition by tenant_id order by place_of_owner, id) as place
          from (
            select w.id, w.tenant_id, row_number() over (partition by w.tenant_id, o.owner_id order by w.id) as place_of_owner
            from dws.app_event w
            join dws.app o on o.id = w.app_id
            where w.dispatched_at is null
          ) of_owners
        ) of_tenants
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

/** A run that the rate of its agent, or of its owner, does not allow. */
interface RefusedRun extends Subscriber {
  error: string;
}

/**
 * Locks the agents, then their owners. Returns the events whose runs are within the rates of the agent and its owner as
 * `started`, and the others as `refused`.
 */
async function applyRate(
  query: Query,
  subscribers: readonly Subscriber[],
): Promise<{ started: Subscriber[]; refused: RefusedRun[] }> {
  const ids = [...new Set(subscribers.map(({ agentId }) => agentId))];
  if (ids.length === 0) return { started: [], refused: [] };
  await query({ text: `select id from dws.agent where id = any($1) order by id for update`, values: [ids] });
  const counts = await query<{ agentId: string; appId: string | null; name: string | null; runs: number }>({
    text: `
      select agent_id as "agentId", event_app_id as "appId", event_name as name, count(*)::int as runs
      from dws.agent_run
      where agent_id = any($1) and created_at > now() - interval '1 hour' and not refused
      group by agent_id, event_app_id, event_name`,
    values: [ids],
  });
  const runs = new Map<string, number>();
  const add = (agentId: string, appId: string | null, name: string | null, count: number): void => {
    for (const key of [agentId, `${agentId} ${appId}`, `${agentId} ${appId} ${name}`])
      runs.set(key, (runs.get(key) ?? 0) + count);
  };
  for (const row of counts) add(row.agentId, row.appId, row.name, row.runs);
  for (const { ownerId, runs: count } of await countRunsOfOwners(query, subscribers)) runs.set(ownerId, count);
  const started: Subscriber[] = [];
  const refused: RefusedRun[] = [];
  for (const subscriber of subscribers) {
    const error = rateError(subscriber, runs);
    if (error) refused.push({ ...subscriber, error });
    else {
      started.push(subscriber);
      add(subscriber.agentId, subscriber.appId, subscriber.name, 1);
      runs.set(subscriber.ownerId, (runs.get(subscriber.ownerId) ?? 0) + 1);
    }
  }
  return { started, refused };
}

/**
 * Locks the owners of agents in one order, and counts the runs of each in the last hour, including runs of deleted
 * agents.
 */
async function countRunsOfOwners(
  query: Query,
  subscribers: readonly Subscriber[],
): Promise<{ ownerId: string; runs: number }[]> {
  const ownerIds = [...new Set(subscribers.map(({ ownerId }) => ownerId))].toSorted();
  await query({
    text: `select pg_advisory_xact_lock(hashtextextended(k.key, 0)) from unnest($1::text[]) with ordinality k (key, n) order by k.n`,
    values: [ownerIds.map(rateKeyOf)],
  });
  return query({
    text: `
      select input->>'ownerId' as "ownerId", count(*)::int as runs
      from dws.operation
      where operation = 'agent.run' and input->>'ownerId' = any($1::text[]) and created_at > now() - interval '1 hour'
      group by 1`,
    values: [ownerIds],
  });
}

/** Returns why the rates of an agent and its owner do not allow a run; undefined if they do. */
function rateError(subscriber: Subscriber, runs: ReadonlyMap<string, number>): string | undefined {
  const { agentId, ownerId, appId, name, appCount, eventCount } = subscriber;
  const end = 'this event and others of the next hour start no run';
  if ((runs.get(agentId) ?? 0) >= MAX_RUNS_PER_HOUR)
    return `The agent ran ${MAX_RUNS_PER_HOUR} times in an hour: ${end}`;
  if ((runs.get(ownerId) ?? 0) >= MAX_RUNS_OF_OWNER)
    return `The agents of the owner ran ${MAX_RUNS_OF_OWNER} times in an hour: ${end}`;
  if (eventCount === 1) return undefined;
  const source = appCount > 1 ? `${agentId} ${appId}` : `${agentId} ${appId} ${name}`;
  if ((runs.get(source) ?? 0) < MAX_RUNS_OF_SOURCE) return undefined;
  const what = appCount > 1 ? 'events of one app' : 'one event';
  return `The agent ran ${MAX_RUNS_OF_SOURCE} times in an hour on ${what} of several: ${end}`;
}

/** Inserts runs and their operations, and sends the operations to the queue. */
async function startRuns({ queue }: Platform, query: Query, subscribers: readonly Subscriber[]): Promise<void> {
  const runs: EventRun[] = subscribers.map((subscriber) => ({ ...subscriber, id: newId(), operationId: newId() }));
  await query({
    text: `
      insert into dws.agent_run (id, tenant_id, agent_id, trigger, event_id, event_name, event_app_id, depth, payload, operation_id)
      select n.id, e.tenant_id, n.agent_id, 'event', e.id, e.name, e.app_id, e.depth + 1, e.payload, n.operation_id
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) n (id, agent_id, event_id, operation_id)
      join dws.app_event e on e.id = n.event_id`,
    values: [
      runs.map(({ id }) => id),
      runs.map(({ agentId }) => agentId),
      runs.map(({ eventId }) => eventId),
      runs.map(({ operationId }) => operationId),
    ],
  });
  const operations = runs.map(({ id, operationId, tenantId, ownerId, agentId, traceparent }) => ({
    id: operationId,
    tenantId,
    userId: ownerId,
    operation: 'agent.run' as const,
    resource: { kind: 'agent', id: agentId },
    input: { agentRunId: id, ownerId },
    unit: 'steps',
    traceparent,
  }));
  await queueOperations(queue, query, operations);
}

/** Records that events were left out: one failed run in an hour for each agent, which stands for all of them. */
async function recordRefused(query: Query, refused: readonly RefusedRun[]): Promise<void> {
  const first = new Map(refused.toReversed().map((run) => [run.agentId, run]));
  await query({
    text: `
      insert into dws.agent_run (
        id, tenant_id, agent_id, trigger, event_id, event_name, event_app_id, depth, payload, status, finished_at, error, refused
      )
      select n.id, e.tenant_id, n.agent_id, 'event', e.id, e.name, e.app_id, e.depth + 1, e.payload, 'failed', now(), n.error, true
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]) n (id, agent_id, event_id, error)
      join dws.app_event e on e.id = n.event_id
      where not exists (
        select from dws.agent_run r
        where r.agent_id = n.agent_id and r.refused and r.created_at > now() - interval '1 hour'
      )`,
    values: [
      [...first.values()].map(() => newId()),
      [...first.keys()],
      [...first.values()].map(({ eventId }) => eventId),
      [...first.values()].map(({ error }) => error),
    ],
  });
}
